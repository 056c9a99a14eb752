import { stopSignal, unlessStopped } from './stop-signal.setup';
import { once } from 'node:events';
import { format } from 'node:util';
import { Logger } from '@nestjs/common';
import { letYoungGenerationGrow } from './young-generation.setup';
import type { Config } from './infrastructure/config/config';
import { readConfig, unknownSettings } from './infrastructure/config/environment.setup';
import { connect, migrate, WATCHED } from './infrastructure/database/migrator.setup';
import { RepeatFilter } from './infrastructure/queue/repeat-filter';
import { endLog } from './infrastructure/http/logger.service';
import { type Service, startService } from './service.setup';
import { openStore } from './store.setup';
import { KeyCheckRepository } from './webhooks/secrets/key-check.repository';
import { SecretsService } from './webhooks/secrets/secrets.service';
import { explainEndFailure, explainStartFailure, welcome } from './welcome';

let hasStarted = false;

async function main(): Promise<void> {
  const store = await unlessStopped(openStore(readConfig()));
  try {
    const service = await unlessStopped(start(store.config));
    letYoungGenerationGrow();
    const notes = [...store.notes, ...(await noteOnAccess(store.config))];
    process.stdout.write(welcome(service, { ...store, notes }));
    hasStarted = true;
    for (const name of unknownSettings())
      new Logger('Settings').warn(`.env contains ${name}, which is no setting; ignoring it.`);
    if (!stopSignal.aborted) await once(stopSignal, 'abort');
    await service.stop();
  } catch (error) {
    explain(error);
  }
  await store.close();
}

async function start(config: Config): Promise<Service> {
  await migrate(config.databaseUrl ?? '');
  await requireKeys(config);
  logWhatLibrariesPrint();
  return startService(config);
}

/** BullMQ and ioredis print warnings, such as that of Redis's eviction policy, and Node.js prints its own. */
function logWhatLibrariesPrint(): void {
  const [logger, printed] = [new Logger('Library'), new RepeatFilter()];
  const log = (...parts: unknown[]): void => {
    const text = format(...parts);
    if (printed.isNews(text, performance.now())) logger.warn(text);
  };
  Object.assign(console, { log, info: log, warn: log, error: log });
  process.removeAllListeners('warning').on('warning', ({ name, message }) => log(`${name}: ${message}`));
}

/** Says how to get in where nobody can yet. */
async function noteOnAccess({ databaseUrl, bootstrapToken, authJwksUrl }: Config): Promise<string[]> {
  if (bootstrapToken !== null || authJwksUrl !== null) return [];
  const client = await connect(databaseUrl ?? '', WATCHED);
  try {
    const { rowCount } = await client.query('select from webhook_service.access_tokens limit 1');
    return rowCount === 0 ? [NO_TOKEN] : [];
  } finally {
    await client.end();
  }
}

const NO_TOKEN =
  'No access token exists yet. Create the first one: npx webhooks token create --user admin --scopes all (or set BOOTSTRAP_TOKEN).';

async function requireKeys(config: Config): Promise<void> {
  const client = await connect(config.databaseUrl ?? '', WATCHED);
  try {
    await new KeyCheckRepository(client, new SecretsService(config)).requireKeys();
  } finally {
    await client.end();
  }
}

function explain(error: unknown): void {
  const isStopped = stopSignal.aborted && !hasStarted;
  const reason: unknown = isStopped ? stopSignal.reason : error;
  process.stderr.write(`${hasStarted ? explainEndFailure(reason) : explainStartFailure(reason)}\n`);
  process.exitCode = isStopped ? 0 : 1;
}

// A full disk or a closed pipe must not end the service.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

main()
  .catch(explain)
  .finally(() => void endLog().then(() => process.exit()));
