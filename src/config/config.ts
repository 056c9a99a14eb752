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
  /** Redis for BullMQ; null means: BullMQ runs on PostgreSQL. */
  readonly redisUrl: string | null;
  /** 32-byte AES keys: the first encrypts, all decrypt. Empty only before the embedded store has made one. */
  readonly secretsKeys: readonly Buffer[];
  readonly bootstrapToken: string | null;
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
  readonly maxWebhooksPerUser: number;
  /** Bytes of the body of a publish request. */
  readonly eventMaxBytes: number;
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
