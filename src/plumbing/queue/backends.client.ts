import { type BackendFactory, createRedisBackend } from 'bullmq';
import { isRedisCluster } from '../config/redis-nodes';
import { clusterBackend } from './cluster-backend.client';
import { type Clock, mendedPostgresBackend } from './postgres-backend.client';

/** The store of BullMQ's queues: a single Redis or a cluster when `redisUrl` names one, else PostgreSQL. */
export function backendFor(redisUrl: string | null, clock: Clock): BackendFactory {
  if (redisUrl === null) return mendedPostgresBackend(clock);
  return isRedisCluster(redisUrl) ? clusterBackend : createRedisBackend;
}
