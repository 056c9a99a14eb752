import { z } from 'zod';
import { isUserId } from 'webhook-notification/catalogue';
import { Config, LOG_LEVELS } from './config';
import { parseQueueName } from './queue-name';
import {
  setting,
  integer,
  optionalPort,
  decimal,
  flag,
  oneOf,
  list,
  url,
  redisUrl,
  keys,
  networks,
  dnsServers,
  eventNames,
  queueNames,
} from './setting-shapes';

/** Every problem of the environment at once, one sentence each. No sentence holds a secret or a URL. */
export class SettingsError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The service cannot start with these settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const LOOPBACK_HOST = /^(localhost|::1|127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;
const LOOPBACK_NETWORKS = '127.0.0.0/8,::1/128';

const ACCESS_TOKEN = /^wns_[A-Za-z0-9_-]{43}$/;

/** The environment variables, in the order in which the documentation lists them; a test compares the two. */
const schema = z.object({
  PORT: integer(3000, 0, 65535),
  HOST: z.string().optional(),
  ROLE: oneOf(['all', 'api', 'worker'], 'all'),
  DATABASE_URL: url('a postgres:// URL', ['postgres:', 'postgresql:']),
  DATABASE_POOL_SIZE: integer(10, 2, 100),
  DATA_DIR: z.string().default('.data'),
  REDIS_URL: redisUrl,
  SECRETS_KEY: keys.default([]),
  BOOTSTRAP_TOKEN: setting('`wns_` followed by 43 base64url characters', (text) =>
    ACCESS_TOKEN.test(text) ? text : undefined,
  )
    .nullable()
    .default(null),
  AUTH_JWKS_URL: url('an http:// or https:// URL', ['http:', 'https:']),
  AUTH_ISSUER: z.string().nullable().default(null),
  AUTH_AUDIENCE: z.string().nullable().default(null),
  AUTH_FAILURES_PER_MINUTE: integer(300, 0, 100_000),
  TRUSTED_PROXIES: networks.default([]),
  ALLOWED_NETWORKS: networks.optional(),
  REQUIRE_HTTPS: flag(false),
  DNS_SERVERS: dnsServers.default([]),
  DELIVERY_TIMEOUT_MS: integer(10_000, 500, 60_000),
  MAX_RETRIES: integer(3, 0, 3),
  RETRY_BASE_DELAY_MS: integer(30_000, 10, 86_400_000),
  RETRY_FACTOR: decimal(8, 1, 10),
  RETRY_JITTER: decimal(0.2, 0, 0.5),
  DELIVERY_CONCURRENCY: integer(300, 1, 5000),
  WEBHOOK_CONCURRENCY: integer(100, 1, 5000),
  DISABLE_AFTER_FAILURES: integer(20, 1, 1000),
  DISABLE_AFTER_HOURS: integer(24, 0, 720),
  MAX_WEBHOOKS_PER_USER: integer(100, 1, 10_000),
  EVENT_MAX_BYTES: integer(98_304, 1024, 1_048_576),
  RATE_LIMIT_PER_MINUTE: integer(600, 0, 1_000_000),
  PUBLISH_LIMIT_PER_MINUTE: integer(0, 0, 1_000_000),
  RETENTION_DAYS: integer(30, 1, 3650),
  EXTRA_EVENT_TYPES: eventNames.default([]),
  MONITORED_QUEUES: queueNames.default([]),
  AUTOMATION_QUEUES: queueNames.default([]),
  MONITORED_QUEUES_REDIS_URL: redisUrl,
  QUEUE_EVENTS_USER: setting('a user id: 1 to 128 of A-Z a-z 0-9 . _ @ : | -', (text) =>
    isUserId(text) ? text : undefined,
  )
    .nullable()
    .default(null),
  METRICS_PORT: optionalPort,
  METRICS_HOST: z.string().default('127.0.0.1'),
  DOCS: flag(true),
  CONSOLE: flag(true),
  LOG_LEVEL: oneOf(LOG_LEVELS, 'info'),
});

/** The names of all settings, for the test that compares them with the documentation. */
export const SETTING_NAMES = Object.keys(schema.shape);

/**
 * Reads the settings from an environment. An empty value means "not set"; an empty `ALLOWED_NETWORKS` means "none".
 * Without `DATABASE_URL` the secrets key and the first token may be missing: the embedded store makes them.
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

const JWT_SETTINGS = ['AUTH_JWKS_URL', 'AUTH_ISSUER', 'AUTH_AUDIENCE'] as const;

function combinationProblems(given: Record<string, string>): string[] {
  const missing = JWT_SETTINGS.filter((name) => given[name] === undefined);
  const halfSet = missing.length > 0 && missing.length < JWT_SETTINGS.length;
  return [
    ...storeProblems(given),
    ...(halfSet ? missing.map((name) => `${name} is required: ${JWT_SETTINGS.join(', ')} go together.`) : []),
    ...queueProblems(given),
    ...portProblems(given),
  ];
}

function storeProblems(given: Record<string, string>): string[] {
  if (given.DATABASE_URL !== undefined) {
    return given.SECRETS_KEY === undefined ? ['SECRETS_KEY is required together with DATABASE_URL.'] : [];
  }
  return given.ROLE === undefined || given.ROLE === 'all'
    ? []
    : ['ROLE must be all without DATABASE_URL: the embedded PostgreSQL serves one process.'];
}

/** Only a monitored queue can be an automation queue. A name that only `AUTOMATION_QUEUES` holds is a mistake. */
function queueProblems(given: Record<string, string>): string[] {
  const monitored = list(given.MONITORED_QUEUES ?? '');
  const unknown = list(given.AUTOMATION_QUEUES ?? '').filter((name) => !monitored.includes(name));
  // A text that is no queue name at all has a sentence of its own.
  return unknown.every((name) => parseQueueName(name) === null)
    ? []
    : ['AUTOMATION_QUEUES must only name queues that MONITORED_QUEUES names in the same way.'];
}

function portProblems({ PORT = '3000', METRICS_PORT }: Record<string, string>): string[] {
  return METRICS_PORT !== undefined && Number(METRICS_PORT) === Number(PORT)
    ? ['METRICS_PORT must be another port than PORT.']
    : [];
}

function monitoredQueues({ MONITORED_QUEUES, AUTOMATION_QUEUES }: z.infer<typeof schema>): Config['monitoredQueues'] {
  return MONITORED_QUEUES.map((queue) => ({
    ...queue,
    isAutomation: AUTOMATION_QUEUES.some(({ prefix, name }) => prefix === queue.prefix && name === queue.name),
  }));
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
    authJwksUrl: settings.AUTH_JWKS_URL,
    authIssuer: settings.AUTH_ISSUER,
    authAudience: settings.AUTH_AUDIENCE,
    authFailuresPerMinute: settings.AUTH_FAILURES_PER_MINUTE,
    trustedProxies: settings.TRUSTED_PROXIES,
    allowedNetworks: settings.ALLOWED_NETWORKS ?? (local ? list(LOOPBACK_NETWORKS) : []),
    requireHttps: settings.REQUIRE_HTTPS,
    dnsServers: settings.DNS_SERVERS,
    deliveryTimeoutMs: settings.DELIVERY_TIMEOUT_MS,
    maxRetries: settings.MAX_RETRIES,
    retryBaseDelayMs: settings.RETRY_BASE_DELAY_MS,
    retryFactor: settings.RETRY_FACTOR,
    retryJitter: settings.RETRY_JITTER,
    deliveryConcurrency: settings.DELIVERY_CONCURRENCY,
    webhookConcurrency: settings.WEBHOOK_CONCURRENCY,
    disableAfterFailures: settings.DISABLE_AFTER_FAILURES,
    disableAfterHours: settings.DISABLE_AFTER_HOURS,
    maxWebhooksPerUser: settings.MAX_WEBHOOKS_PER_USER,
    eventMaxBytes: settings.EVENT_MAX_BYTES,
    rateLimitPerMinute: settings.RATE_LIMIT_PER_MINUTE,
    publishLimitPerMinute: settings.PUBLISH_LIMIT_PER_MINUTE,
    retentionDays: settings.RETENTION_DAYS,
    extraEventTypes: settings.EXTRA_EVENT_TYPES,
    monitoredQueues: monitoredQueues(settings),
    monitoredQueuesRedisUrl: settings.MONITORED_QUEUES_REDIS_URL,
    queueEventsUser: settings.QUEUE_EVENTS_USER,
    metricsPort: settings.METRICS_PORT,
    metricsHost: settings.METRICS_HOST,
    docs: settings.DOCS,
    console: settings.CONSOLE,
    isLocal: local,
    logLevel: settings.LOG_LEVEL,
  });
}
