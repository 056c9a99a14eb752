import type { ConnectionOptions, DefaultJobOptions, WorkerOptions } from 'bullmq';
import type { Config } from '../config/config';
import { PostgresConnection } from '../database/postgres-connection.client';
import { addressOf } from './redis.client';

/** BullMQ's tables have their own schema, because BullMQ trims its event stream across its whole schema. */
const QUEUE_SCHEMA = 'webhook_service_queue';
const MAX_CONNECTIONS = 3;

/** Jobs that throw are retried, and leave nothing behind in the end. The state is in PostgreSQL; a job is only a hint. */
export const JOB_OPTIONS: DefaultJobOptions = {
  attempts: 5,
  backoff: { type: 'exponential', delay: 200 },
  removeOnComplete: true,
  removeOnFail: true,
};

/** How Redis rejects a write on a replica; a script's error may begin with another word. */
const READ_ONLY_REPLICA = /\bREADONLY\b/;

/** Longer than any response takes. A worker's blocking command may take ten seconds. */
const PRODUCER_SILENCE_MS = 3000;
const WORKER_SILENCE_MS = 12_000;

/**
 * Closes a connection after `silenceMs` without a byte, and reconnects within a second of the store's return. A connection
 * to a Redis that has become a replica is closed too: after a failover, only a new one reaches the server that the address
 * now leads to. The rejected command fails, because ioredis would repeat one of a transaction outside of it.
 */
export const surviving = (silenceMs: number) => ({
  reconnectOnError: ({ message }: Error): boolean => READ_ONLY_REPLICA.test(message),
  socketTimeout: silenceMs,
  connectTimeout: 2000,
  retryStrategy: (attempt: number): number => Math.min(100 * attempt, 1000),
});

/** The connection that adds jobs: it fails at once while the store is unavailable, on Redis after 500 ms. */
export function producerConnection(config: Config): ConnectionOptions {
  if (config.redisUrl === null) return postgresConnection(config);
  return {
    ...addressOf(config.redisUrl),
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    commandTimeout: 500,
    ...surviving(PRODUCER_SILENCE_MS),
  };
}

/** The connection of a worker. It waits in a blocking command, so it has no command timeout and never gives up. */
function workerConnection(config: Config): ConnectionOptions {
  if (config.redisUrl === null) return postgresConnection(config);
  return { ...addressOf(config.redisUrl), maxRetriesPerRequest: null, ...surviving(WORKER_SILENCE_MS) };
}

/** Options with which a worker resumes within seconds after its store, or another worker, has failed. */
export function workerOptions(config: Config, concurrency: number): WorkerOptions {
  return {
    connection: workerConnection(config),
    concurrency,
    runRetryDelay: 500,
    drainDelay: 5,
    lockDuration: 10_000,
    stalledInterval: 4000,
    maxStalledCount: 1000,
  };
}

/** A connection of BullMQ to PostgreSQL. BullMQ has types only for Redis; its PostgreSQL backend reads these fields. */
function postgresConnection({ databaseUrl }: Config): ConnectionOptions {
  return {
    connectionString: databaseUrl ?? '',
    schema: QUEUE_SCHEMA,
    max: MAX_CONNECTIONS,
    migrate: true,
    // A job that PostgreSQL loses in a crash is enqueued again. Only the rows wait for the disk.
    options: '-c synchronous_commit=off',
    connectionTimeoutMillis: 3000,
    Client: PostgresConnection,
  } as ConnectionOptions;
}
