import type { ConnectionOptions, WorkerOptions } from 'bullmq';
import type { Config } from '../config/config';
import { TolerantPgClient } from './tolerant-pg.client';

/** BullMQ's own tables, apart from ours: it trims its event stream over everything in its schema. */
const QUEUE_SCHEMA = 'webhook_service_queue';
const MAX_CONNECTIONS = 3;

const reconnectAfterMs = (attempt: number): number => Math.min(100 * attempt, 1000);

/** The connection on which jobs are added: it fails at once rather than piling up commands while the store is away. */
export function producerConnection(config: Config): ConnectionOptions {
  if (config.redisUrl === null) return postgresConnection(config);
  return {
    url: config.redisUrl,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    commandTimeout: 500,
    retryStrategy: reconnectAfterMs,
  };
}

/** The connection of a worker: it waits in a blocking command, so it has no command timeout and never gives up. */
function workerConnection(config: Config): ConnectionOptions {
  if (config.redisUrl === null) return postgresConnection(config);
  return { url: config.redisUrl, maxRetriesPerRequest: null, retryStrategy: reconnectAfterMs };
}

/** Options under which a worker is back within seconds after its store, or another worker, has died. */
export function workerOptions(config: Config, concurrency: number): WorkerOptions {
  return {
    connection: workerConnection(config),
    concurrency,
    runRetryDelay: 500,
    drainDelay: 2,
    lockDuration: 10_000,
    stalledInterval: 4000,
    maxStalledCount: 1000,
  };
}

// BullMQ types connections for Redis only; its PostgreSQL backend reads these fields.
function postgresConnection(config: Config): ConnectionOptions {
  return {
    connectionString: config.databaseUrl,
    schema: QUEUE_SCHEMA,
    max: MAX_CONNECTIONS,
    migrate: true,
    connectionTimeoutMillis: 3000,
    keepAlive: true,
    Client: TolerantPgClient,
  };
}
