import { setTimeout as pause } from 'node:timers/promises';
import { type BackendFactory, type ConnectionOptions, createPostgresBackend, type IQueueBackend } from 'bullmq';
import { isDatabaseUnavailable } from '../errors/database-error';
import { TolerantPgClient } from './tolerant-pg.client';

const CALM_MS = 250;

/** What BullMQ 6.7 keeps to itself of its PostgreSQL backend. */
interface Internals {
  readyPromise?: Promise<void>;
  connection: { readyPromise?: Promise<void>; pgModule: { Client: unknown } };
  query(text: string, parameters?: unknown[]): Promise<unknown>;
}

/**
 * BullMQ's PostgreSQL backend, mended in three places: a first connection that failed is remembered for ever (the queue or
 * worker is dead then), a worker whose statements fail at once repeats them without a pause, and a LISTEN connection that
 * ends just after it was made ends the process.
 */
export const createMendedPostgresBackend: BackendFactory<IQueueBackend, ConnectionOptions> = (name, opts, more) => {
  const backend = createPostgresBackend(name, opts as never, more);
  const internals = backend as unknown as Internals;
  internals.connection.pgModule = { Client: TolerantPgClient };
  const [query, waitUntilReady] = [internals.query.bind(backend), backend.waitUntilReady.bind(backend)];
  const beginAnew = (): void => {
    internals.readyPromise = undefined;
    internals.connection.readyPromise = undefined;
  };

  backend.waitUntilReady = async () => {
    try {
      await waitUntilReady();
    } catch (error) {
      beginAnew();
      throw error;
    }
  };
  internals.query = async (text, parameters) => {
    try {
      return await query(text, parameters);
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      beginAnew();
      await pause(CALM_MS);
      throw error;
    }
  };
  return backend;
};
