import { readConfig } from './config/environment.launcher';
import { migrate } from './database/migrator.launcher';
import { startService, type Service } from './service.launcher';
import { openStore, type Store } from './store.launcher';
import { explainStartFailure, welcome } from './welcome';

async function main(): Promise<void> {
  const settings = readConfig();
  const store = await openStore(settings);
  try {
    await migrate(store.config.databaseUrl ?? '');
    const service = await startService(store.config);
    stopOnSignal(service, store);
    process.stdout.write(welcome(service.url, store));
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The first SIGTERM or Ctrl-C drains; a second one does not wait. */
function stopOnSignal(service: Service, store: Store): void {
  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) process.exit(1);
    stopping = true;
    await service.stop();
    await store.close();
    process.exit(0);
  };
  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());
}

main().catch((error: unknown) => {
  process.stderr.write(`${explainStartFailure(error)}\n`);
  process.exitCode = 1;
});
