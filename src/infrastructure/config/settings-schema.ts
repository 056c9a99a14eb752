import { z } from 'zod';
import { isUserId } from 'webhook-notification/catalogue';
import {
  certificates,
  consoleName,
  databaseUrl,
  decimal,
  dnsServers,
  egressProxy,
  eventNames,
  flag,
  headerPrefixes,
  integer,
  keys,
  networks,
  oneOf,
  optionalFlag,
  optionalPort,
  optionalText,
  origins,
  queueNames,
  redisUrl,
  setting,
  text,
  url,
  userAgent,
} from './setting-shapes';
import { version } from './version';

const ACCESS_TOKEN = /^wns_[A-Za-z0-9_-]{43}$/;

const COLOR = /^#[0-9a-f]{6}$/i;

const QUEUE_PREFIX = /^[A-Za-z0-9._-]{1,80}$/;

const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/**
 * Every setting, in the order of the documentation. `deliveryTimeoutMs` is the environment variable `DELIVERY_TIMEOUT_MS`.
 * `npm run docs:write` writes docs/settings.md and .env.example from this object: the description, `shown` in the column of
 * defaults where the default alone does not say it, and `example` in .env.example.
 */
export const schema = z.object({
  port: integer(3000, 0, 65535).describe('Port of the API, and of the health routes of a worker; 0: any free port'),
  host: z
    .string()
    .optional()
    .describe('Address that the service listens on')
    .meta({ shown: '`0.0.0.0`; `127.0.0.1` without `DATABASE_URL`', example: '0.0.0.0' }),
  local: optionalFlag
    .describe(
      'For one user on one machine: the service prints a link to the console, offers test receivers, and delivers to loopback addresses; `false` with `DATABASE_URL`',
    )
    .meta({ shown: '`true` with a loopback `HOST`, otherwise `false`', example: 'true' }),
  role: oneOf(['all', 'api', 'worker'], 'all').describe(
    '`all`, `api` (no workers) or `worker` (no API); only `all` without `DATABASE_URL`',
  ),
  databaseUrl: databaseUrl
    .describe(
      'PostgreSQL 15 or newer, such as `postgres://user:password@host:5432/database`; see [TLS and poolers](settings.md#postgresql-and-redis)',
    )
    .meta({ shown: 'the embedded PostgreSQL in `DATA_DIR`' }),
  databasePoolSize: integer(10, 2, 100).describe('PostgreSQL connections of one process, not counting those of BullMQ'),
  dataDir: text('.data').describe('Folder of the embedded database, its generated key and first token'),
  redisUrl: redisUrl
    .describe(
      'Redis or Valkey for BullMQ, such as `redis://host:6379`; also [Sentinels](settings.md#postgresql-and-redis) or comma-separated nodes of a [cluster](settings.md#redis-cluster)',
    )
    .meta({ shown: 'none: BullMQ runs on PostgreSQL' }),
  queuePrefix: setting('1 to 80 of A-Z a-z 0-9 . _ -', (prefix) => (QUEUE_PREFIX.test(prefix) ? prefix : undefined))
    .nullable()
    .default(null)
    .describe(
      'First part of all keys in Redis; give each [installation that shares a Redis](settings.md#postgresql-and-redis) its own',
    )
    .meta({ shown: '`webhooks-` and an id that the database keeps', example: 'webhooks' }),
  secretsKey: keys
    .default([])
    .describe(
      "32 bytes in base64 (`openssl rand -base64 32`) that encrypt the webhooks' secrets; comma-separated: the first encrypts, all decrypt",
    )
    .meta({ shown: 'generated in `DATA_DIR`; required with `DATABASE_URL`' }),
  bootstrapToken: setting('`wns_` followed by 43 base64url characters', (token) =>
    ACCESS_TOKEN.test(token) ? token : undefined,
  )
    .nullable()
    .default(null)
    .describe(
      'First access token, `wns_` and 43 base64url characters: user `admin`, all scopes, never stored; removing the setting revokes it',
    )
    .meta({ shown: 'none; generated and printed at the first start without `DATABASE_URL`' }),
  authJwksUrl: url('an http:// or https:// URL', ['http:', 'https:']).describe(
    'Key set of an identity provider, such as `https://id.example/.well-known/jwks.json`: its JWTs are access tokens too; requires the next two',
  ),
  authIssuer: optionalText.describe('`iss` of its JWTs, exactly as they contain it'),
  authAudience: optionalText.describe('`aud` that names this service in them'),
  authFailuresPerMinute: integer(300, 0, 100_000).describe(
    'Failed authentications per address (IPv6: per /64) and minute, then 429; valid tokens are not affected; 0: no limit',
  ),
  trustedProxies: networks
    .default([])
    .describe('CIDRs of proxies whose `x-forwarded-for` is used, at least /8 (IPv6: /16)'),
  allowedNetworks: networks
    .optional()
    .describe('Special-purpose CIDRs that deliveries may reach, at least /8 (IPv6: /16); an empty value means none')
    .meta({
      shown: 'none; `127.0.0.0/8,::1/128` when `LOCAL` is true',
      example: '127.0.0.0/8,::1/128',
    }),
  signatureHeaders: setting('svix', (text) => (text === 'svix' ? text : undefined))
    .nullable()
    .default(null)
    .describe('`svix`: deliveries also have `svix-id`, `svix-timestamp` and `svix-signature`'),
  headerPrefix: headerPrefixes.describe(
    '[Prefix of the headers](settings.md#headers-of-deliveries) of deliveries, such as `x-acme` for `x-acme-event`; two, comma-separated, send both',
  ),
  userAgent: userAgent
    .prefault(`webhook-notification-service/${version}`)
    .meta({ shown: '`webhook-notification-service/<version>`', example: 'acme-webhooks/1' })
    .describe('`user-agent` of deliveries'),
  requireHttps: flag(false).describe('Refuse `http:` webhooks'),
  dnsServers: dnsServers
    .default([])
    .describe('[Name servers](settings.md#names) for deliveries, `address[:port]`')
    .meta({ shown: "the system's" }),
  // Its text is the content of the file, which `readSettingFiles` has read.
  egressCaFile: certificates
    .nullable()
    .default(null)
    .describe(
      'PEM file, at most 64 KiB, of certificates that are trusted besides those of Node.js (on Node.js 20, without `NODE_EXTRA_CA_CERTS`): for deliveries, follower readings and `AUTH_JWKS_URL`',
    ),
  egressProxy: egressProxy.describe(
    '[Proxy for all requests of the service](settings.md#an-egress-proxy), `http(s)://[user:password@]host:port`, user and password percent-encoded',
  ),
  egressProxyResolves: flag(false).describe(
    'Pass names to `EGRESS_PROXY` instead of addresses, for proxies that check addresses themselves',
  ),
  noProxy: optionalText.describe(
    'Hosts that are requested without `EGRESS_PROXY`, each with the names below it; applies to `AUTH_JWKS_URL` only',
  ),
  deliveryTimeoutMs: integer(10_000, 500, 60_000).describe(
    'Deadline in ms for DNS, connect, TLS and the status line of one attempt',
  ),
  maxRetries: integer(3, 0, 3).describe('Retries after the first attempt'),
  retryBaseDelayMs: integer(30_000, 10, 86_400_000).describe('Delay in ms before the first retry'),
  retryFactor: decimal(8, 1, 10).describe('Factor between one delay and the next: 30 s, 4 min, 32 min'),
  retryJitter: decimal(0.2, 0, 0.5).describe('Random share of a delay, added or subtracted'),
  deliveryConcurrency: integer(300, 1, 5000).describe('Attempts in flight in one process'),
  webhookConcurrency: integer(100, 1, 5000).describe(
    'Of these, attempts to one webhook; fewer while it is slow and others wait',
  ),
  maxPendingPerWebhook: integer(100_000, 1000, 10_000_000).describe(
    'Pending deliveries of a webhook, approximately; further ones are canceled as `backlog_full`',
  ),
  disableAfterFailures: integer(20, 1, 1000).describe(
    'Events in a row that run out of retries before a webhook is disabled',
  ),
  disableAfterHours: integer(24, 0, 720).describe(
    'Hours since its last success or activation before a webhook is disabled; both conditions must hold',
  ),
  maxWebhooksPerUser: integer(100, 1, 10_000).describe('Webhooks that a user may have'),
  eventMaxBytes: integer(98_304, 1024, 1_048_576).describe(
    'Bytes of the body of a publish request, and of `data` in process',
  ),
  rateLimitPerMinute: integer(600, 0, 1_000_000).describe(
    'Requests per user, minute and process, except publishing; 0: no limit, not even on test deliveries',
  ),
  publishLimitPerMinute: integer(0, 0, 1_000_000).describe(
    'Events that a user may publish per minute and process; 0: no limit',
  ),
  retentionDays: integer(30, 1, 3650).describe(
    'Days after which events, deliveries and idempotency keys are dropped, a whole day at a time',
  ),
  extraEventTypes: eventNames
    .default([])
    .describe(
      'Names of further events, such as `invoice.paid`, whose data may be any JSON object; with a schema: [event types](api.md#event-types)',
    ),
  monitoredQueues: queueNames
    .default([])
    .describe('BullMQ queues whose jobs become events, `name` or `prefix:name`; see [sources](sources.md)'),
  automationQueues: queueNames.default([]).describe('Monitored queues whose jobs are also operations'),
  monitoredQueuesRedisUrl: redisUrl
    .describe('Redis of the monitored queues, in the forms of `REDIS_URL`')
    .meta({ shown: '`REDIS_URL`; without either: PostgreSQL' }),
  queueEventsUser: setting('a user id: 1 to 128 of A-Z a-z 0-9 . _ @ : | -', (id) => (isUserId(id) ? id : undefined))
    .nullable()
    .default(null)
    .describe('User for the events of jobs without `data.userId`')
    .meta({ shown: 'none: all users' }),
  metricsPort: optionalPort
    .describe('Port that serves [Prometheus metrics](monitoring.md#metrics) at `/metrics`, in every process')
    .meta({ example: '9464' }),
  metricsHost: text('127.0.0.1').describe(
    'Address that the metrics port listens on; reading metrics requires no token',
  ),
  corsOrigins: origins
    .default([])
    .describe(
      'Origins whose pages may [call the API](api.md#calls-from-web-pages), such as `https://app.example`; `http:` only on loopback',
    ),
  docs: flag(true).describe('Serve Swagger UI at `/docs`'),
  console: flag(true).describe('Serve the console at `/console`'),
  consoleFrameAncestors: origins
    .default([])
    .describe(
      'Origins whose pages may show the console [in a frame](console.md#inside-your-application), such as `https://app.example`; `http:` only on loopback',
    ),
  consoleName: consoleName
    .default('Webhooks')
    .describe('Name of the console, in its corner and its title')
    .meta({ shown: '`Webhooks`', example: 'Webhooks' }),
  consoleAccent: setting('a color such as #4f46e5', (color) => (COLOR.test(color) ? color.toLowerCase() : undefined))
    .nullable()
    .default(null)
    .describe('Color of links and buttons of the console; its shade is adjusted for contrast')
    .meta({ shown: 'indigo', example: '#4f46e5' }),
  logLevel: oneOf(LOG_LEVELS, 'info').describe('`silent`, `fatal`, `error`, `warn`, `info`, `debug` or `trace`'),
});

export type Settings = z.infer<typeof schema>;

/** The environment variable of a setting: `DATABASE_URL` of `databaseUrl`. */
export const variableOf = (name: string): string => name.replace(/[A-Z]/g, '_$&').toUpperCase();
