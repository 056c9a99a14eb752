import { letYoungGenerationGrow } from './young-generation.setup';
import type { Config } from './infrastructure/config/config';
import { readConfig } from './infrastructure/config/environment.setup';
import { connect, migrate } from './infrastructure/database/migrator.setup';
import { endLog } from './infrastructure/http/logger.service';
import { startService } from './service.setup';
import { openStore } from './store.setup';
import { KeyCheckRepository } from './webhooks/secrets/key-check.repository';
import { SecretsService } from './webhooks/secrets/secrets.service';
import { explainEndFailure, explainStartFailure, welcome } from './welcome';

let hasStarted = false;

async function main(): Promise<void> {
  const stopRequested = firstSignal();
  const settings = readConfig();
  const store = await openStore(settings);
  try {
    await migrate(store.config.databaseUrl ?? '');
    await requireKeys(store.config);
    const service = await startService(store.config);
    letYoungGenerationGrow();
    process.stdout.write(welcome(service, store));
    hasStarted = true;
    await stopRequested;
    await service.stop();
  } catch (error) {
    explain(error);
    process.exitCode = 1;
  }
  await store.close();
}

async function requireKeys(config: Config): Promise<void> {
  const client = await connect(config.databaseUrl ?? '');
  try {
    await new KeyCheckRepository(client, new SecretsService(config)).requireKeys();
  } finally {
    await client.end();
  }
}

function explain(error: unknown): void {
  process.stderr.write(`${hasStarted ? explainEndFailure(error) : explainStartFailure(error)}\n`);
}

/**
 * Resolves on the first SIGTERM or Ctrl-C, even during the start, to drain the service. A second one ends the process at once.
 */
function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        resolve();
        process.once(signal, () => process.exit(1));
      });
    }
  });
}

// A full disk or a closed pipe must not end the service.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

main()
  .catch((error: unknown) => {
    explain(error);
    process.exitCode = 1;
  })
  .finally(() => void endLog().then(() => process.exit()));
