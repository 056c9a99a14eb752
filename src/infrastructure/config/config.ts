import type { MonitoredQueue } from './queue-name';
import type { Settings } from './settings-schema';

/** Values that the embedded PostgreSQL and its data folder provide when `DATABASE_URL` is not set. */
export interface EmbeddedStore {
  databaseUrl: string;
  secretsKeys: readonly Buffer[];
  bootstrapToken: string;
}

type Fields = Readonly<
  Omit<Settings, 'secretsKey' | 'automationQueues' | 'local'> & {
    host: string;
    allowedNetworks: readonly string[];
    /** AES keys of 32 bytes: the first encrypts, all decrypt. Empty only until the embedded store has made one. */
    secretsKeys: readonly Buffer[];
    monitoredQueues: readonly MonitoredQueue[];
    /** True where only its user reaches the service: the embedded PostgreSQL, and a loopback address or `LOCAL`. */
    isLocal: boolean;
  }
>;

const ConfigFields = class {
  constructor(fields: Fields) {
    Object.assign(this, fields);
  }
} as new (fields: Fields) => Fields;

/** Every setting of the service, parsed and within its bounds. Only `parseConfig` makes it. */
export class Config extends ConfigFields {
  /** The same settings with the url of the embedded store, and its key and token where none is set. */
  static onEmbeddedStore(config: Config, store: EmbeddedStore): Config {
    return new Config({
      ...config,
      databaseUrl: store.databaseUrl,
      secretsKeys: config.secretsKeys.length > 0 ? config.secretsKeys : store.secretsKeys,
      bootstrapToken: config.bootstrapToken ?? store.bootstrapToken,
    });
  }
}
