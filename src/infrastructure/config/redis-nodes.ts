import { urlOf } from '../destinations/url';

/**
 * Number of send queues on a Redis cluster; everywhere else there is one. Redis keeps a queue in one hash slot, and
 * therefore on one node. The names `{send-0}` to `{send-5}` give each of three equal nodes two queues; eight names
 * would be spread 2, 2 and 4. Each queue costs every worker three connections.
 */
export const CLUSTER_SEND_QUEUES = 6;

/** Connection parameters of a cluster. User, password and TLS also apply to nodes that the cluster announces later. */
export interface RedisCluster {
  nodes: { host: string; port: number }[];
  username?: string;
  password?: string;
  isSecure: boolean;
}

/** Connection parameters of a master. `nodes` are the Sentinels that watch it; user and password are the master's. */
export interface RedisSentinels extends RedisCluster {
  master: string;
  database: number;
  sentinelPassword?: string;
}

const DEFAULT_PORT = 6379;
const DEFAULT_SENTINEL_PORT = 26_379;
const SENTINEL_URL = /^(rediss?)\+sentinel:\/\/([^@/?#,]*@)?([^@/?#\s]+)\/([\w.-]+)(?:\?([^#]*))?$/;
const DATABASE = /^\d{1,5}$/;
const PROTOCOLS = ['redis:', 'rediss:'];

const isRedisSentinel = (redisUrl: string): boolean => /^rediss?\+sentinel:/.test(redisUrl);

/** True when a `REDIS_URL` names several nodes and therefore a cluster. */
export const isRedisCluster = (redisUrl: string | null): redisUrl is string =>
  redisUrl !== null && redisUrl.includes(',') && !isRedisSentinel(redisUrl);

/**
 * Returns the canonical form of a `REDIS_URL`: one URL, a URL of Sentinels, or the nodes of a cluster separated by commas
 * without spaces. Returns null for any other text. Nodes may differ only in host and port. They have no database number,
 * because a cluster has only the first database.
 */
export function parseRedisUrl(text: string): string | null {
  if (isRedisSentinel(text)) return parseSentinels(text) ? text : null;
  const parts = text.split(',').map((part) => part.trim());
  const urls = parts.filter((part) => part !== '');
  const [first, ...others] = urls.map((url) => urlOf(url));
  if (!first || !isNode(first)) return null;
  if (others.length === 0) return parts.length === 1 ? text : null;
  const fits = (url: URL | undefined) => url !== undefined && isNode(url) && isAlike(url, first) && hasNoDatabase(url);
  return hasNoDatabase(first) && others.every(fits) ? urls.join(',') : null;
}

/** Parses the nodes in a text that `parseRedisUrl` has returned. */
export function readCluster(redisUrl: string, defaultPort = DEFAULT_PORT): RedisCluster {
  const urls = redisUrl.split(',').map((url) => new URL(url));
  const [username, password] = [urls[0]?.username, urls[0]?.password].map((text) => decodeURIComponent(text ?? ''));
  return {
    nodes: urls.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? defaultPort : Number(port),
    })),
    ...(username && { username }),
    ...(password && { password }),
    isSecure: urls[0]?.protocol === 'rediss:',
  };
}

/**
 * Parses `redis+sentinel://user:password@host:port,host:port/master?db=1&sentinelPassword=secret`; `rediss+sentinel:`
 * means TLS to Sentinels and master. Returns null for any other text.
 */
export function parseSentinels(text: string): RedisSentinels | null {
  const [, protocol = '', credentials = '', hosts = '', master = '', search] = SENTINEL_URL.exec(text) ?? [];
  const { db = '0', sentinelPassword, ...unknown } = Object.fromEntries(new URLSearchParams(search));
  const urls = hosts.split(',').map((host) => `${protocol}://${credentials}${host}`);
  const nodes = urls.map((url) => urlOf(url));
  if (!nodes.every((url) => url && isNode(url)) || !DATABASE.test(db) || Object.keys(unknown).length > 0) return null;
  const database = Number(db);
  return {
    ...readCluster(urls.join(','), DEFAULT_SENTINEL_PORT),
    master,
    database,
    ...(sentinelPassword && { sentinelPassword }),
  };
}

const isNode = ({ protocol, host, username, password }: URL): boolean =>
  PROTOCOLS.includes(protocol) && host !== '' && isDecodable(username) && isDecodable(password);
const hasNoDatabase = ({ pathname, search }: URL): boolean => ['', '/', '/0'].includes(pathname) && search === '';

const isAlike = (one: URL, other: URL): boolean =>
  one.protocol === other.protocol && one.username === other.username && one.password === other.password;

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
