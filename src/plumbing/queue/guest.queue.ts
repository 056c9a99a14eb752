import { type createRedisBackend, Queue } from 'bullmq';
import type { ClientConfig } from 'pg';
import { backendFor } from './backends.client';
import { JOB_OPTIONS, postgresQueueConnection, redisProducerConnection } from './queue-connections.client';
import type { Clock } from './postgres-backend.client';

/**
 * Opens a queue of the service in another application's process, only to add jobs. BullMQ's process-wide settings
 * belong to that application and are not touched; nor does BullMQ migrate its tables here.
 */
export function openGuestQueue(name: string, redisUrl: string | null, postgres: ClientConfig, clock: Clock): Queue {
  const connection = redisUrl === null ? postgresQueueConnection(postgres, false) : redisProducerConnection(redisUrl);
  const backend = backendFor(redisUrl, clock) as typeof createRedisBackend;
  return new Queue(name, { connection, defaultJobOptions: JOB_OPTIONS }, backend);
}
