import type { ConnectionOptions, DefaultJobOptions, WorkerOptions } from 'bullmq';
import type { ClientConfig } from 'pg';
import type { Config } from '../config/config';
import { PostgresConnection } from '../database/postgres-connection.client';

/** BullMQ's own tables, apart from ours: it trims its event stream over everything in its schema. */
const QUEUE_SCHEMA = 'webhook_service_queue';
const MAX_CONNECTIONS = 3;

/** What throws is repeated, and leaves nothing behind: the rows remember. */
export const JOB_OPTIONS: DefaultJobOptions = {
  attempts: 5,
  backoff: { type: 'exponential', delay: 200 },
  removeOnComplete: true,
  removeOnFail: true,
};

/** Longer than an answer takes; a worker's blocking command may take ten seconds. */
const PRODUCER_SILENCE_MS = 3000;
const WORKER_SILENCE_MS = 12_000;

/** A connection that has died without a word is given up, and made anew within a second of the store's return. */
export const surviving = (silenceMs: number) => ({
  socketTimeout: silenceMs,
  connectTimeout: 2000,
  retryStrategy: (attempt: number): number => Math.min(100 * attempt, 1000),
});

/** The connection on which jobs are added: it fails at once rather than piling up commands while the store is away. */
export function producerConnection(config: Config): ConnectionOptions {
  return config.redisUrl === null ? postgresConnection(config) : redisProducerConnection(config.redisUrl);
}

export function redisProducerConnection(url: string): ConnectionOptions {
  return {
    url,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    commandTimeout: 500,
    ...surviving(PRODUCER_SILENCE_MS),
  };
}

/** The connection of a worker: it waits in a blocking command, so it has no command timeout and never gives up. */
function workerConnection(config: Config): ConnectionOptions {
  if (config.redisUrl === null) return postgresConnection(config);
  return { url: config.redisUrl, maxRetriesPerRequest: null, ...surviving(WORKER_SILENCE_MS) };
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

const postgresConnection = ({ databaseUrl }: Config): ConnectionOptions =>
  postgresQueueConnection({ connectionString: databaseUrl ?? '' }, true);

/**
 * BullMQ types connections for Redis only; its PostgreSQL backend reads these fields.
 * @param migrate whether BullMQ may make and alter its tables
 */
export function postgresQueueConnection(place: ClientConfig, migrate: boolean): ConnectionOptions {
  return {
    ...place,
    schema: QUEUE_SCHEMA,
    max: MAX_CONNECTIONS,
    migrate,
    // A reminder that PostgreSQL loses when it dies is made again; the rows are what waits for the disk.
    options: '-c synchronous_commit=off',
    connectionTimeoutMillis: 3000,
    Client: PostgresConnection,
  } as ConnectionOptions;
}
