import { z } from 'zod';
import { Config, LOG_LEVELS } from './config';
import { isDnsServer, parseNetwork } from './network';

/** Carries every problem of the environment at once, one sentence each; no sentence holds a secret or a URL. */
export class SettingsError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The service cannot start with these settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const LOOPBACK_HOST = /^(localhost|::1|127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;
const LOOPBACK_NETWORKS = '127.0.0.0/8,::1/128';

/** A setting whose text `parse` turns into a value, or into undefined when `rule` does not hold. */
function setting<T>(rule: string, parse: (text: string) => T | undefined) {
  return z.string().transform((text, context) => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: `must be ${rule}` });
    return z.NEVER;
  });
}

const number = (min: number, max: number, pattern: RegExp, kind: string) =>
  setting(`${kind} from ${min} to ${max}`, (text) => {
    const value = pattern.test(text) ? Number(text) : NaN;
    return value >= min && value <= max ? value : undefined;
  });

const integer = (fallback: number, min: number, max: number) =>
  number(min, max, /^\d{1,15}$/, 'a whole number').default(fallback);

const decimal = (fallback: number, min: number, max: number) =>
  number(min, max, /^\d{1,15}(\.\d{1,15})?$/, 'a number').default(fallback);

const flag = (fallback: boolean) =>
  setting('true or false', (text) => (text === 'true' ? true : text === 'false' ? false : undefined)).default(fallback);

const oneOf = <const T extends string>(values: readonly T[], fallback: NoInfer<T>) =>
  setting(`one of ${values.join(', ')}`, (text) => values.find((value) => value === text)).prefault(fallback);

const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const url = (rule: string, protocols: readonly string[]) =>
  setting(rule, (text) => (isUrlOf(text, protocols) ? text : undefined))
    .nullable()
    .default(null);

/** A URL of one of these protocols that names a host, and one host only. */
function isUrlOf(text: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host } = new URL(text);
  return protocols.includes(protocol) && host !== '' && !text.includes(',');
}

const keys = setting(
  '32 bytes in base64 (several: comma-separated), for example from `openssl rand -base64 32`',
  (text) => {
    const decoded = list(text).map((part) => Buffer.from(part, 'base64'));
    const canonical = decoded.length > 0 && decoded.every((key, i) => key.toString('base64') === list(text)[i]);
    return canonical && decoded.every((key) => key.length === 32) ? decoded : undefined;
  },
);

const networks = setting(
  'comma-separated CIDRs such as 10.1.0.0/16, with a prefix of at least /8 (IPv6: /16)',
  (text) => (list(text).every((part) => parseNetwork(part) !== null) ? list(text) : undefined),
);

const dnsServers = setting('comma-separated IP addresses, each with an optional :port', (text) => {
  return list(text).every(isDnsServer) ? list(text) : undefined;
});

const ACCESS_TOKEN = /^wns_[A-Za-z0-9_-]{43}$/;

/** The environment variables, in the order of the contract's table. */
const schema = z.object({
  PORT: integer(3000, 0, 65535),
  HOST: z.string().optional(),
  ROLE: oneOf(['all', 'api', 'worker'], 'all'),
  DATABASE_URL: url('a postgres:// URL', ['postgres:', 'postgresql:']),
  DATABASE_POOL_SIZE: integer(10, 2, 100),
  DATA_DIR: z.string().default('.data'),
  REDIS_URL: url('one redis:// or rediss:// URL', ['redis:', 'rediss:']),
  SECRETS_KEY: keys.default([]),
  BOOTSTRAP_TOKEN: setting('`wns_` followed by 43 base64url characters', (text) =>
    ACCESS_TOKEN.test(text) ? text : undefined,
  )
    .nullable()
    .default(null),
  ALLOWED_NETWORKS: networks.optional(),
  REQUIRE_HTTPS: flag(false),
  DNS_SERVERS: dnsServers.default([]),
  DELIVERY_TIMEOUT_MS: integer(10_000, 500, 60_000),
  MAX_RETRIES: integer(3, 0, 3),
  RETRY_BASE_DELAY_MS: integer(30_000, 10, 86_400_000),
  RETRY_FACTOR: decimal(8, 1, 10),
  RETRY_JITTER: decimal(0.2, 0, 0.5),
  DELIVERY_CONCURRENCY: integer(300, 1, 5000),
  MAX_WEBHOOKS_PER_USER: integer(100, 1, 10_000),
  EVENT_MAX_BYTES: integer(98_304, 1024, 1_048_576),
  DOCS: flag(true),
  LOG_LEVEL: oneOf(LOG_LEVELS, 'info'),
});

/** The names of all settings, for the documentation's check. */
export const SETTING_NAMES = Object.keys(schema.shape);

/**
 * Reads the settings out of an environment. An empty value means not set, except for `ALLOWED_NETWORKS`, where it
 * means none. Without `DATABASE_URL` the secrets key and the first token may be missing: the embedded store makes them.
 * @throws SettingsError with every problem at once
 */
export function parseConfig(environment: Environment): Config {
  const given = Object.fromEntries(
    SETTING_NAMES.map((name) => [name, environment[name]] as const).filter(
      ([name, text]) => text !== undefined && (text !== '' || name === 'ALLOWED_NETWORKS'),
    ),
  ) as Record<string, string>;
  const parsed = schema.safeParse(given);
  const problems = [...combinationProblems(given), ...(parsed.error?.issues ?? []).map(sentence)];
  if (!parsed.success || problems.length > 0) throw new SettingsError(problems);
  return toConfig(parsed.data);
}

function sentence(issue: z.core.$ZodIssue): string {
  return `${issue.path.join('.')} ${issue.message}.`;
}

function combinationProblems(given: Record<string, string>): string[] {
  if (given.DATABASE_URL !== undefined) {
    return given.SECRETS_KEY === undefined ? ['SECRETS_KEY is required together with DATABASE_URL.'] : [];
  }
  return given.ROLE === undefined || given.ROLE === 'all'
    ? []
    : ['ROLE must be all without DATABASE_URL: the embedded PostgreSQL serves one process.'];
}

function toConfig(settings: z.infer<typeof schema>): Config {
  const embedded = settings.DATABASE_URL === null;
  const host = settings.HOST ?? (embedded ? '127.0.0.1' : '0.0.0.0');
  const local = embedded && LOOPBACK_HOST.test(host);
  return new Config({
    port: settings.PORT,
    host,
    role: settings.ROLE,
    databaseUrl: settings.DATABASE_URL,
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    dataDir: settings.DATA_DIR,
    redisUrl: settings.REDIS_URL,
    secretsKeys: settings.SECRETS_KEY,
    bootstrapToken: settings.BOOTSTRAP_TOKEN,
    allowedNetworks: settings.ALLOWED_NETWORKS ?? (local ? list(LOOPBACK_NETWORKS) : []),
    requireHttps: settings.REQUIRE_HTTPS,
    dnsServers: settings.DNS_SERVERS,
    deliveryTimeoutMs: settings.DELIVERY_TIMEOUT_MS,
    maxRetries: settings.MAX_RETRIES,
    retryBaseDelayMs: settings.RETRY_BASE_DELAY_MS,
    retryFactor: settings.RETRY_FACTOR,
    retryJitter: settings.RETRY_JITTER,
    deliveryConcurrency: settings.DELIVERY_CONCURRENCY,
    maxWebhooksPerUser: settings.MAX_WEBHOOKS_PER_USER,
    eventMaxBytes: settings.EVENT_MAX_BYTES,
    docs: settings.DOCS,
    logLevel: settings.LOG_LEVEL,
  });
}
