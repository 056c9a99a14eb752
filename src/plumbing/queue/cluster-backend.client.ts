import { type BackendFactory, createRedisBackend, type RedisOptions, type RedisQueueBackend } from 'bullmq';
import { openCluster } from './redis.client';

/**
 * BullMQ's Redis backend on a cluster. It takes a cluster only as a client that is somebody else's, which it does not close:
 * here each queue and each worker has its own and closes it, as on a single Redis.
 */
export const clusterBackend: BackendFactory<RedisQueueBackend> = (name, opts, more = {}) => {
  const { url = '', ...options } = opts.connection as RedisOptions & { url?: string };
  const client = openCluster(url, options);
  const backend = createRedisBackend(
    name,
    // A queue whose first command failed would be dead for good; a worker needs to know what its Redis can do.
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
