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

const DEFAULT_PORT = 6379;
const PROTOCOLS = ['redis:', 'rediss:'];

/** True when a `REDIS_URL` names several nodes and therefore a cluster. */
export const isRedisCluster = (redisUrl: string | null): redisUrl is string => redisUrl?.includes(',') ?? false;

/**
 * Returns the canonical form of a `REDIS_URL`: one URL, or the nodes of a cluster separated by commas without spaces.
 * Returns null for any other text. Nodes may differ only in host and port. They have no database number, because a
 * cluster has only the first database.
 */
export function parseRedisUrl(text: string): string | null {
  const parts = text.split(',').map((part) => part.trim());
  const urls = parts.filter((part) => part !== '');
  const [first, ...others] = urls.map((url) => (URL.canParse(url) ? new URL(url) : null));
  if (!first || !isNode(first)) return null;
  if (others.length === 0) return parts.length === 1 ? text : null;
  const fits = (url: URL | null) => url !== null && isNode(url) && isAlike(url, first) && hasNoDatabase(url);
  return hasNoDatabase(first) && others.every(fits) ? urls.join(',') : null;
}

/**
 * Parses the nodes in a text that `parseRedisUrl` has returned.
 * @throws TypeError for a part that is not a URL
 */
export function readCluster(redisUrl: string): RedisCluster {
  const urls = redisUrl.split(',').map((url) => new URL(url));
  const [username, password] = [urls[0]?.username, urls[0]?.password].map((text) => decodeURIComponent(text ?? ''));
  return {
    nodes: urls.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? DEFAULT_PORT : Number(port),
    })),
    ...(username && { username }),
    ...(password && { password }),
    isSecure: urls[0]?.protocol === 'rediss:',
  };
}

const isNode = ({ protocol, host }: URL): boolean => PROTOCOLS.includes(protocol) && host !== '';
const hasNoDatabase = ({ pathname, search }: URL): boolean => ['', '/', '/0'].includes(pathname) && search === '';

const isAlike = (one: URL, other: URL): boolean =>
  one.protocol === other.protocol && one.username === other.username && one.password === other.password;
