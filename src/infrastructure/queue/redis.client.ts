import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { isRedisCluster, readCluster } from '../config/redis-nodes';

/** A single Redis, or a cluster of them. */
export type RedisClient = Redis | Cluster;

const CONNECT_WITHIN_MS = 2000;
/** Delay before a command is retried when its node is gone or its slot has moved. */
const REDIRECT_AFTER_MS = 50;
/** Maximum number of retries of a command whose client must not wait. */
const IMPATIENT_REDIRECTIONS = 5;

/** Opens a client for a single Redis or a cluster. `options` apply to every node. */
export function openRedis(redisUrl: string, options: RedisOptions): RedisClient {
  return isRedisCluster(redisUrl) ? openCluster(redisUrl, options) : new Redis(redisUrl, options);
}

/** Connects a lazy client on first use, and rejects when that fails. Later the client reconnects by itself. */
export async function connected(redis: RedisClient): Promise<RedisClient> {
  if (redis.status === 'wait') await redis.connect();
  return redis;
}

/** Opens a client for a cluster. `options` apply to every node. User, password and TLS come from the url. */
export function openCluster(redisUrl: string, options: RedisOptions): Cluster {
  const { lazyConnect, enableOfflineQueue = true, retryStrategy, ...node } = options;
  const { nodes, username, password, isSecure } = readCluster(redisUrl);
  return new SettlingCluster(nodes, {
    lazyConnect,
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy as ClusterOptions['clusterRetryStrategy'],
    retryDelayOnMoved: REDIRECT_AFTER_MS,
    ...(enableOfflineQueue ? {} : { maxRedirections: IMPATIENT_REDIRECTIONS }),
    // A certificate is issued for a name. Without this, ioredis would connect to the address of the name.
    dnsLookup: (host, done) => done(null, host),
    redisOptions: { ...node, username, password, ...(isSecure && { tls: {} }) },
  });
}

/**
 * A cluster client whose `connect()` always settles, within two seconds. The `connect()` of ioredis never settles when
 * the nodes respond while the cluster is down, and a worker would wait for it forever. The client itself keeps
 * connecting.
 */
class SettlingCluster extends Cluster {
  constructor(
    private readonly firstNodes: ClusterNode[],
    options: ClusterOptions,
  ) {
    // The parameter's type is more specific about replies than ClusterOptions.
    super(firstNodes, options as never);
  }

  /** Rejects when the cluster is not ready within two seconds. */
  override connect(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      const giveUp = () => reject(new Error('The Redis cluster is not ready.'));
      timer = setTimeout(giveUp, CONNECT_WITHIN_MS);
    });
    return Promise.race([super.connect(), tooLate]).finally(() => clearTimeout(timer));
  }

  /** BullMQ uses it to create a worker's blocking connection. */
  override duplicate(_nodes?: ClusterNode[], options?: ClusterOptions): never {
    return new SettlingCluster(this.firstNodes, { ...this.options, ...options }) as never;
  }
}
