import { type createRedisBackend, Queue } from 'bullmq';
import type { ClientConfig } from 'pg';
import { backendFor } from './backends.client';
import { JOB_OPTIONS, postgresQueueConnection, redisProducerConnection } from './queue-connections.client';
import type { Clock } from './postgres-backend.client';

/**
 * A queue of the service in a process that is not the service: to add jobs, and without a word to BullMQ's process-wide
 * settings, which are the other application's.
 */
export function openGuestQueue(name: string, redisUrl: string | null, postgres: ClientConfig, clock: Clock): Queue {
  const connection = redisUrl === null ? postgresQueueConnection(postgres, false) : redisProducerConnection(redisUrl);
  const backend = backendFor(redisUrl, clock) as typeof createRedisBackend;
  return new Queue(name, { connection, defaultJobOptions: JOB_OPTIONS }, backend);
}
