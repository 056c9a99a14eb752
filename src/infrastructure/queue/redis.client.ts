import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { isRedisCluster, parseSentinels, readCluster } from '../config/redis-nodes';

export type RedisClient = Redis | Cluster;

const CONNECT_WITHIN_MS = 2000;
/** Delay before a command is retried when its node is gone or its slot has moved. */
const REDIRECT_AFTER_MS = 50;
/** Maximum number of retries of a command whose client must not wait. */
const IMPATIENT_REDIRECTIONS = 5;

/** Opens a client for a single Redis, the master of Sentinels, or a cluster. `options` apply to every node. */
export function openRedis(redisUrl: string, options: RedisOptions): RedisClient {
  if (isRedisCluster(redisUrl)) return openCluster(redisUrl, options);
  const { url, ...address } = addressOf(redisUrl);
  return url === undefined ? new Redis({ ...address, ...options }) : new Redis(url, options);
}

/** Returns the options by which BullMQ and ioredis find a single Redis, or the master of Sentinels. */
export function addressOf(redisUrl: string): RedisOptions & { url?: string } {
  const found = parseSentinels(redisUrl);
  if (!found) return { url: redisUrl };
  const { nodes, master, username, password, database, sentinelPassword, isSecure } = found;
  return {
    sentinels: nodes,
    name: master,
    username,
    password,
    db: database,
    sentinelPassword,
    sentinelCommandTimeout: CONNECT_WITHIN_MS,
    ...(isSecure && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
  };
}

/** Connects a lazy client on first use, within two seconds. Later the client reconnects by itself. */
export async function connected(redis: RedisClient): Promise<RedisClient> {
  if (redis.status === 'wait') await settled(redis.connect());
  return redis;
}

/** The `connect()` of ioredis never settles while no Sentinel responds, or the nodes respond but their cluster is down. */
function settled(connecting: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('Redis is not ready.')), CONNECT_WITHIN_MS);
  });
  return Promise.race([connecting, tooLate]).finally(() => clearTimeout(timer));
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

/** A cluster client whose `connect()` settles within two seconds, because a worker waits for it. */
class SettlingCluster extends Cluster {
  constructor(
    private readonly firstNodes: ClusterNode[],
    options: ClusterOptions,
  ) {
    // The parameter's type is more specific about replies than ClusterOptions.
    super(firstNodes, options as never);
  }

  override connect(): Promise<void> {
    return settled(super.connect());
  }

  /** BullMQ uses it to create a worker's blocking connection. */
  override duplicate(_nodes?: ClusterNode[], options?: ClusterOptions): never {
    return new SettlingCluster(this.firstNodes, { ...this.options, ...options }) as never;
  }
}
