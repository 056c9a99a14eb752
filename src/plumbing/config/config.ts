import type { MonitoredQueue } from './queue-name';

export type Role = 'all' | 'api' | 'worker';

/** Levels of pino, from the quietest to the most talkative. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/** What the embedded PostgreSQL and its data folder provide without a `DATABASE_URL`. */
export interface EmbeddedStore {
  databaseUrl: string;
  secretsKeys: readonly Buffer[];
  bootstrapToken: string;
}

/** Every setting of the service, parsed and within its bounds. Only `parseConfig` in `settings.ts` makes it. */
export class Config {
  /** TCP port of the API; a worker has only the health routes there. */
  readonly port: number;
  /** Address that the port is opened on. */
  readonly host: string;
  readonly role: Role;
  /** PostgreSQL connection URL; null means: start the embedded one in `dataDir`. */
  readonly databaseUrl: string | null;
  /** PostgreSQL connections of this process, not counting those of BullMQ. */
  readonly databasePoolSize: number;
  readonly dataDir: string;
  /** Redis for BullMQ, or the comma-separated nodes of a cluster; null means: BullMQ runs on PostgreSQL. */
  readonly redisUrl: string | null;
  /** AES keys of 32 bytes: the first encrypts, all decrypt. Empty only until the embedded store has made one. */
  readonly secretsKeys: readonly Buffer[];
  readonly bootstrapToken: string | null;
  /** Where an identity provider publishes the keys of its JWTs; null: only opaque tokens. Needs the next two. */
  readonly authJwksUrl: string | null;
  /** The `iss` of the provider's JWTs. */
  readonly authIssuer: string | null;
  /** The `aud` that names this service in the provider's JWTs. */
  readonly authAudience: string | null;
  /** Failed authentications per address and minute before the address gets 429; 0: no limit. */
  readonly authFailuresPerMinute: number;
  /** CIDRs of proxies whose `x-forwarded-for` is used. */
  readonly trustedProxies: readonly string[];
  /** CIDRs of special-purpose networks that deliveries may reach. */
  readonly allowedNetworks: readonly string[];
  readonly requireHttps: boolean;
  /** Name servers for deliveries as `address[:port]`; empty means those of the system. */
  readonly dnsServers: readonly string[];
  /** One deadline, in ms, for DNS, connect, TLS and the status line of an attempt. */
  readonly deliveryTimeoutMs: number;
  readonly maxRetries: number;
  readonly retryBaseDelayMs: number;
  readonly retryFactor: number;
  /** The share of a delay by which it varies at random: 0.2 is ±20 %. */
  readonly retryJitter: number;
  /** Attempts in flight in this process. */
  readonly deliveryConcurrency: number;
  /** Attempts in flight at one webhook in this process. */
  readonly webhookConcurrency: number;
  /** A webhook is disabled after this many events in a row have run out of retries. */
  readonly disableAfterFailures: number;
  /** It is not disabled before this many hours have passed since its last success or activation. */
  readonly disableAfterHours: number;
  readonly maxWebhooksPerUser: number;
  /** The most bytes that the body of a publish request may have. */
  readonly eventMaxBytes: number;
  /** Requests per user, minute and process on the management routes; 0: no limit. */
  readonly rateLimitPerMinute: number;
  /** Events that a user may publish per minute and process; 0: no limit. */
  readonly publishLimitPerMinute: number;
  /** Events, deliveries and idempotency keys are dropped after this many days. */
  readonly retentionDays: number;
  /** Names of further events; their data may be any object. */
  readonly extraEventTypes: readonly string[];
  /** BullMQ queues of other programs whose jobs become events. */
  readonly monitoredQueues: readonly MonitoredQueue[];
  /** Redis of the monitored queues; null means: the store of the service's own queues. */
  readonly monitoredQueuesRedisUrl: string | null;
  /** The user of an event whose job names no user; null means: everybody. */
  readonly queueEventsUser: string | null;
  /** TCP port of the metrics; null: no metrics are served. */
  readonly metricsPort: number | null;
  /** Address that the metrics' port is opened on. */
  readonly metricsHost: string;
  readonly docs: boolean;
  /** Whether the console is served. */
  readonly console: boolean;
  /** True on the machine of who tries the service: the embedded PostgreSQL, and a loopback address. */
  readonly isLocal: boolean;
  readonly logLevel: (typeof LOG_LEVELS)[number];

  constructor(settings: Config) {
    Object.assign(this, settings);
  }

  /** The same settings with the url of the embedded store. Key and token of the store are used where none is set. */
  static onEmbeddedStore(config: Config, store: EmbeddedStore): Config {
    return new Config({
      ...config,
      databaseUrl: store.databaseUrl,
      secretsKeys: config.secretsKeys.length > 0 ? config.secretsKeys : store.secretsKeys,
      bootstrapToken: config.bootstrapToken ?? store.bootstrapToken,
    });
  }
}
