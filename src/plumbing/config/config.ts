import type { MonitoredQueue } from './queue-name';

export type Role = 'all' | 'api' | 'worker';

/** Levels of pino, from the quietest to the most talkative. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/** What the embedded PostgreSQL and its data folder provide when `DATABASE_URL` is not set. */
export interface EmbeddedStore {
  databaseUrl: string;
  secretsKeys: readonly Buffer[];
  bootstrapToken: string;
}

/** Every setting of the service, parsed and bounded. `parseConfig` in `settings.ts` is the one place that makes it. */
export class Config {
  /** TCP port of the API (and of the health routes of a worker). */
  readonly port: number;
  /** Address that the port is opened on. */
  readonly host: string;
  readonly role: Role;
  /** PostgreSQL connection URL; null means: start the embedded one in `dataDir`. */
  readonly databaseUrl: string | null;
  /** PostgreSQL connections of this process, those of BullMQ not counted. */
  readonly databasePoolSize: number;
  readonly dataDir: string;
  /** Redis for BullMQ, comma-separated nodes for a cluster; null means: BullMQ runs on PostgreSQL. */
  readonly redisUrl: string | null;
  /** 32-byte AES keys: the first encrypts, all decrypt. Empty only before the embedded store has made one. */
  readonly secretsKeys: readonly Buffer[];
  readonly bootstrapToken: string | null;
  /** Where an identity provider publishes the keys of its JWTs; null: only opaque tokens. The next two come with it. */
  readonly authJwksUrl: string | null;
  /** The `iss` of its JWTs. */
  readonly authIssuer: string | null;
  /** The `aud` that names this service in them. */
  readonly authAudience: string | null;
  /** Failed authentications per address and minute before it gets 429; 0: no limit. */
  readonly authFailuresPerMinute: number;
  /** CIDRs of proxies whose `x-forwarded-for` is believed. */
  readonly trustedProxies: readonly string[];
  /** CIDRs that deliveries may reach although they are special-purpose. */
  readonly allowedNetworks: readonly string[];
  readonly requireHttps: boolean;
  /** Resolvers for deliveries as `address[:port]`; empty means the system's. */
  readonly dnsServers: readonly string[];
  /** One deadline, in ms, for DNS, connect, TLS and the status line of one attempt. */
  readonly deliveryTimeoutMs: number;
  readonly maxRetries: number;
  readonly retryBaseDelayMs: number;
  readonly retryFactor: number;
  /** Share of a delay by which it varies at random, up and down: 0.2 is ±20 %. */
  readonly retryJitter: number;
  /** Attempts in flight in this process. */
  readonly deliveryConcurrency: number;
  /** Of them, attempts at one webhook. */
  readonly webhookConcurrency: number;
  /** Events in a row that ran out of retries before a webhook is disabled, */
  readonly disableAfterFailures: number;
  /** and hours since its last success or activation: both must hold. */
  readonly disableAfterHours: number;
  readonly maxWebhooksPerUser: number;
  /** Bytes of the body of a publish request. */
  readonly eventMaxBytes: number;
  /** Requests per user, minute and process on management routes; 0: no limit. */
  readonly rateLimitPerMinute: number;
  /** Events that a user may publish per minute and process; 0: no limit. */
  readonly publishLimitPerMinute: number;
  /** Events, deliveries and idempotency keys that are older are dropped. */
  readonly retentionDays: number;
  /** Names of further events; their data may be any object. */
  readonly extraEventTypes: readonly string[];
  /** BullMQ queues of other programs whose jobs become events. */
  readonly monitoredQueues: readonly MonitoredQueue[];
  /** Redis of the monitored queues; null means: they are where the service's own queues are. */
  readonly monitoredQueuesRedisUrl: string | null;
  /** User of the events of jobs that name none; null means: everybody. */
  readonly queueEventsUser: string | null;
  /** TCP port of the metrics; null: they are not served. */
  readonly metricsPort: number | null;
  /** Address that the metrics' port is opened on. */
  readonly metricsHost: string;
  readonly docs: boolean;
  readonly logLevel: (typeof LOG_LEVELS)[number];

  constructor(settings: Config) {
    Object.assign(this, settings);
  }

  /** The same settings with the embedded store filled in, where the environment named none itself. */
  static onEmbeddedStore(config: Config, store: EmbeddedStore): Config {
    return new Config({
      ...config,
      databaseUrl: store.databaseUrl,
      secretsKeys: config.secretsKeys.length > 0 ? config.secretsKeys : store.secretsKeys,
      bootstrapToken: config.bootstrapToken ?? store.bootstrapToken,
    });
  }
}
