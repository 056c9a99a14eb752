import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { isRedisCluster, readCluster } from '../config/redis-nodes';

/** A single Redis, or a cluster of them. */
export type RedisClient = Redis | Cluster;

const CONNECT_WITHIN_MS = 2000;
/** A node that has gone, or a slot that has moved, is asked for anew after this time, */
const REDIRECT_AFTER_MS = 50;
/** and by a client that must not wait no more often than this. */
const IMPATIENT_REDIRECTIONS = 5;

/** Opens a client that speaks to all nodes in the same way, as `options` say of one. */
export function openRedis(redisUrl: string, options: RedisOptions): RedisClient {
  return isRedisCluster(redisUrl) ? openCluster(redisUrl, options) : new Redis(redisUrl, options);
}

/** Connects a lazy client at its first use. Afterwards it reconnects by itself; until then its commands tell. */
export async function connected(redis: RedisClient): Promise<RedisClient> {
  if (redis.status === 'wait') await redis.connect();
  return redis;
}

export function openCluster(redisUrl: string, options: RedisOptions): Cluster {
  const { lazyConnect, enableOfflineQueue = true, retryStrategy, ...node } = options;
  const { nodes, username, password, isSecure } = readCluster(redisUrl);
  return new SettlingCluster(nodes, {
    lazyConnect,
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy as ClusterOptions['clusterRetryStrategy'],
    retryDelayOnMoved: REDIRECT_AFTER_MS,
    ...(enableOfflineQueue ? {} : { maxRedirections: IMPATIENT_REDIRECTIONS }),
    // A certificate is for the name. Without this ioredis would connect to its address.
    dnsLookup: (host, done) => done(null, host),
    redisOptions: { ...node, username, password, ...(isSecure && { tls: {} }) },
  });
}

/**
 * A client of a cluster whose `connect()` always settles: ioredis' own never does when the nodes answer while the cluster is
 * down, and a worker that waited for it would wait for ever. The client itself goes on connecting.
 */
class SettlingCluster extends Cluster {
  constructor(
    private readonly firstNodes: ClusterNode[],
    options: ClusterOptions,
  ) {
    // Its type says more of how replies are shaped than ClusterOptions does.
    super(firstNodes, options as never);
  }

  override connect(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      const giveUp = () => reject(new Error('The Redis cluster is not ready.'));
      timer = setTimeout(giveUp, CONNECT_WITHIN_MS);
    });
    return Promise.race([super.connect(), tooLate]).finally(() => clearTimeout(timer));
  }

  /** BullMQ makes a worker's blocking connection with it. */
  override duplicate(_nodes?: ClusterNode[], options?: ClusterOptions): never {
    return new SettlingCluster(this.firstNodes, { ...this.options, ...options }) as never;
  }
}
