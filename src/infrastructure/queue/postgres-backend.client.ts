import { setTimeout as pause } from 'node:timers/promises';
import {
  type BackendFactory,
  type ConnectionOptions,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  type RedisOptions,
  type RedisQueueBackend,
} from 'bullmq';
import { isRedisCluster } from '../config/redis-nodes';
import { openCluster } from './redis.client';
import { isDatabaseUnavailable } from '../errors/database-error';
import { PostgresConnection } from '../database/postgres-connection.client';

/** Returns the backend of BullMQ's queues: Redis (Sentinels included), a cluster of it, or without `redisUrl` PostgreSQL. */
export function backendFor(redisUrl: string | null, clock: Clock): BackendFactory {
  if (redisUrl === null) return mendedPostgresBackend(clock);
  return isRedisCluster(redisUrl) ? clusterBackend : createRedisBackend;
}

/**
 * BullMQ's Redis backend on a cluster. BullMQ accepts a cluster only as a client that it does not own, and therefore
 * does not close. Here each queue and each worker has its own client and closes it, as on a single Redis.
 */
const clusterBackend: BackendFactory<RedisQueueBackend> = (name, opts, more = {}) => {
  const { url = '', ...options } = opts.connection as RedisOptions & { url?: string };
  const client = openCluster(url, options);
  const backend = createRedisBackend(
    name,
    // Queues skip the check, because a queue whose first command fails stays dead. Workers must know the features of Redis.
    { ...opts, connection: client, skipVersionCheck: !more.withBlockingConnection },
    more,
  );
  const close = backend.close.bind(backend);
  backend.close = async (force) => {
    try {
      await close(force);
    } finally {
      client.disconnect();
    }
  };
  return backend;
};

const CALM_MS = 250;
/** A larger parameter is a time in ms since 1970 by the machine's clock; BullMQ's durations are far smaller. */
const TIMES_BEGIN_MS = 1e12;
/** A worker that waits for a delayed job polls for other jobs at least this often. */
const POLL_INTERVAL_SECONDS = 2;
/** BullMQ compares these columns with the machine's time. */
const TIMES_READ = ['next_delay'];

/** Provides the number of ms by which PostgreSQL's clock is ahead of this machine's. */
interface Clock {
  offsetMs(): number;
}

type Rows = { rows: Record<string, unknown>[] };

/** Private parts of BullMQ 6.7's PostgreSQL backend that are used here. */
interface Internals {
  readyPromise?: Promise<void>;
  connection: { readyPromise?: Promise<void>; pgModule: { Client: unknown } };
  query(text: string, parameters?: unknown[]): Promise<Rows>;
}

/**
 * BullMQ's PostgreSQL backend, with five bugs fixed:
 * - A failed first connection is cached forever, and its queue or worker stays dead.
 * - A worker whose statements fail at once retries them without a pause.
 * - A LISTEN connection that ends just after it was opened ends the process.
 * - A LISTEN connection that ends while its worker waits for a job due in an hour leaves the worker waiting.
 * - Locks are timed by each machine's own clock. The jobs of a machine whose clock is an hour ahead would stay locked
 *   for an hour after it crashes, and that machine would treat all jobs of other machines as abandoned.
 */
export const mendedPostgresBackend =
  (clock: Clock): BackendFactory<IQueueBackend, ConnectionOptions> =>
  (name, opts, more) => {
    const backend = createPostgresBackend(name, opts as never, more);
    const internals = backend as unknown as Internals;
    internals.connection.pgModule = { Client: PostgresConnection };
    const [query, waitUntilReady] = [internals.query.bind(backend), backend.waitUntilReady.bind(backend)];
    let isReady = false;
    // A pool that was ready once reconnects by itself. Starting again would acquire BullMQ's migration lock again.
    const beginAnew = (): void => {
      if (isReady) return;
      internals.readyPromise = undefined;
      internals.connection.readyPromise = undefined;
    };

    Object.defineProperty(backend, 'maximumBlockTimeout', { value: POLL_INTERVAL_SECONDS });
    backend.waitUntilReady = async () => {
      try {
        await waitUntilReady();
        isReady = true;
      } catch (error) {
        beginAnew();
        throw error;
      }
    };
    internals.query = async (text, parameters) => {
      const offsetMs = clock.offsetMs();
      try {
        const result = await query(text, writeTimes(parameters, offsetMs));
        isReady = true;
        return readTimes(result, offsetMs);
      } catch (error) {
        if (isDatabaseUnavailable(error)) beginAnew();
        await pause(CALM_MS);
        throw error;
      }
    };
    return backend;
  };

function writeTimes(parameters: unknown[] | undefined, offsetMs: number): unknown[] | undefined {
  const isTime = (value: unknown): value is number => typeof value === 'number' && value > TIMES_BEGIN_MS;
  return parameters?.map((value) => (isTime(value) ? value + offsetMs : value));
}

function readTimes(result: Rows, offsetMs: number): Rows {
  for (const row of result.rows) {
    for (const column of TIMES_READ) if (row[column] != null) row[column] = Number(row[column]) - offsetMs;
  }
  return result;
}
