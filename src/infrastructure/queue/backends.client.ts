import { type BackendFactory, createRedisBackend, type RedisOptions, type RedisQueueBackend } from 'bullmq';
import { isRedisCluster } from '../config/redis-nodes';
import { type Clock, mendedPostgresBackend } from './postgres-backend.client';
import { openCluster } from './redis.client';

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
    // Queues skip the check, because a queue whose first command fails stays dead. Workers must know the features of
    // Redis.
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
