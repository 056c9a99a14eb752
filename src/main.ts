import { stopSignal, unlessStopped } from './stop-signal.setup';
import { once } from 'node:events';
import { Logger } from '@nestjs/common';
import { letYoungGenerationGrow } from './young-generation.setup';
import type { Config } from './infrastructure/config/config';
import { readConfig, unknownSettings } from './infrastructure/config/environment.setup';
import { connect, migrate, WATCHED } from './infrastructure/database/migrator.setup';
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
    process.stdout.write(welcome(service, store));
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
  return startService(config);
}

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
