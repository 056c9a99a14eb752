/**
 * How many send queues there are on a Redis cluster; everywhere else there is one. Redis keeps a queue in one slot, so on one
 * node. The names `{send-0}` to `{send-5}` fall on three equal nodes two and two, which eight would not (2, 2 and 4), and
 * each costs every worker three connections.
 */
export const CLUSTER_SEND_QUEUES = 6;

/** How to reach a cluster: every node that it names later is spoken to in the same way. */
export interface RedisCluster {
  nodes: { host: string; port: number }[];
  username?: string;
  password?: string;
  isSecure: boolean;
}

const DEFAULT_PORT = 6379;
const PROTOCOLS = ['redis:', 'rediss:'];

/** Whether a `REDIS_URL` names several nodes, and so a cluster. */
export const isRedisCluster = (redisUrl: string | null): redisUrl is string => redisUrl?.includes(',') ?? false;

/**
 * Brings a `REDIS_URL` into its canonical form: one URL, or the nodes of a cluster separated by commas alone. Null: it is
 * neither. Nodes differ in host and port alone, and have no database number: a cluster has only the first database.
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

/** Reads what `parseRedisUrl` has let through. */
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
