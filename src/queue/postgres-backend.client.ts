import { setTimeout as pause } from 'node:timers/promises';
import { type BackendFactory, type ConnectionOptions, createPostgresBackend, type IQueueBackend } from 'bullmq';
import { isDatabaseUnavailable } from '../errors/database-error';

const CALM_MS = 250;

/** What BullMQ 6.7 keeps to itself of its PostgreSQL backend. */
interface Internals {
  readyPromise?: Promise<void>;
  connection: { readyPromise?: Promise<void> };
  query(text: string, parameters?: unknown[]): Promise<unknown>;
}

/**
 * BullMQ's PostgreSQL backend, mended in two places: a first connection that failed is remembered for ever (the queue or
 * worker is dead then), and a worker whose statements fail at once repeats them without a pause.
 */
export const createMendedPostgresBackend: BackendFactory<IQueueBackend, ConnectionOptions> = (name, opts, more) => {
  const backend = createPostgresBackend(name, opts as never, more);
  const internals = backend as unknown as Internals;
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
