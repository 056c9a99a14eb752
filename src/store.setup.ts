import { stopSignal, unlessStopped } from './stop-signal.setup';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  attachEmbeddedPostgres,
  type EmbeddedPostgres,
  lockForService,
  readOrCreateSecret,
  type ServiceLock,
  startEmbeddedPostgres,
} from '@webhook-notification/embedded-postgres';
import { formatToken } from './auth/access-token';
import { Config } from './infrastructure/config/config';

const TOKEN_FILE = 'first-token';
const START_AGAIN_AFTER_MS = 1000;

export interface Store {
  /** The settings, completed by the store: a database URL, a secrets key and a first token. */
  config: Config;
  notes: readonly string[];
  /** The access token created on the very first start; otherwise null. */
  firstToken: string | null;
  /** Releases the data folder and stops the embedded database, if this store holds them. */
  close(): Promise<void>;
}

/** Opens the store for the service. Throws when another service holds the data folder. */
export function openStore(config: Config): Promise<Store> {
  return config.databaseUrl === null ? embeddedStore(config, startEmbeddedPostgres, true) : externalStore(config);
}

/**
 * Opens the store for a command. Uses a running database, and stops only a database that it has started, also when a signal
 * ends the command.
 */
export function attachStore(config: Config): Promise<Store> {
  const store =
    config.databaseUrl === null ? embeddedStore(config, attachEmbeddedPostgres, false) : externalStore(config);
  stopSignal.addEventListener('abort', () => void endCommand(store));
  return store;
}

async function endCommand(store: Promise<Store>): Promise<void> {
  await unlessStopped(store.then(({ close }) => close())).catch(() => undefined);
  process.exit(1);
}

async function externalStore(config: Config): Promise<Store> {
  return { config, notes: [], firstToken: null, close: async () => undefined };
}

async function embeddedStore(config: Config, start: typeof startEmbeddedPostgres, exclusive: boolean): Promise<Store> {
  const postgres = await keepRunning(config.dataDir, start);
  const { dataDir } = postgres.first;
  let lock: ServiceLock | null = null;
  const close = async (): Promise<void> => {
    await lock?.release();
    await postgres.stop();
  };
  try {
    if (exclusive) lock = await lockForService(postgres.first, dataDir);
    const key = await readOrCreateSecret(dataDir, 'secrets.key', () => randomBytes(32).toString('base64'));
    const token = await readOrCreateSecret(dataDir, TOKEN_FILE, () => formatToken(randomBytes(32)));
    return {
      config: Config.onEmbeddedStore(config, {
        databaseUrl: postgres.first.url,
        secretsKeys: [Buffer.from(key.value, 'base64')],
        bootstrapToken: token.value,
      }),
      notes: notesOn(config, dataDir, postgres.first),
      firstToken: token.created && config.bootstrapToken === null ? token.value : null,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts the database. If it ends without being stopped, restarts it on the same port. */
async function keepRunning(dataDir: string, start: typeof startEmbeddedPostgres) {
  let stopped = false;
  const onExit = (reason: string): void => void again(reason);
  const first = await start({ dataDir, onExit, signal: stopSignal });
  let current = first;

  async function again(reason: string): Promise<void> {
    process.stderr.write(`The embedded PostgreSQL ended; starting it again: ${reason}\n`);
    while (!stopped) {
      try {
        current = await start({ dataDir: first.dataDir, port: first.port, onExit });
        if (stopped) await current.stop();
        return;
      } catch (error) {
        if (stopped) return;
        process.stderr.write(`The embedded PostgreSQL did not start; retrying in 1 s: ${messageOf(error)}\n`);
        await pause(START_AGAIN_AFTER_MS);
      }
    }
  }

  return {
    first,
    stop: async () => {
      stopped = true;
      await current.stop();
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function notesOn(config: Config, dataDir: string, postgres: EmbeddedPostgres): string[] {
  const token =
    config.bootstrapToken === null ? [`The first access token is kept in ${join(dataDir, TOKEN_FILE)}.`] : [];
  return [`Data is kept in ${resolve(dataDir)} by the embedded PostgreSQL.`, ...postgres.notes, ...token];
}
