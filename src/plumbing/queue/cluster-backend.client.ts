import { type BackendFactory, createRedisBackend, type RedisOptions, type RedisQueueBackend } from 'bullmq';
import { openCluster } from './redis.client';

/**
 * BullMQ's Redis backend on a cluster. BullMQ accepts a cluster only as a client that it does not own, and so does not
 * close it. Here each queue and each worker has its own client and closes it, as on a single Redis.
 */
export const clusterBackend: BackendFactory<RedisQueueBackend> = (name, opts, more = {}) => {
  const { url = '', ...options } = opts.connection as RedisOptions & { url?: string };
  const client = openCluster(url, options);
  const backend = createRedisBackend(
    name,
    // Queues skip the check: a queue whose first command fails stays dead. Workers need to know what Redis can do.
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
