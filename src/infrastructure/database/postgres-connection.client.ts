import { Socket } from 'node:net';
import { Client, type ClientConfig, escapeLiteral } from 'pg';
import { isDatabaseReadOnly, TAKES_NO_WRITES } from '../errors/database-error';

const SILENCE_MS = 8000;
const KEEP_ALIVE_AFTER_MS = 10_000;

/** PostgreSQL reports these when a connection starts, and whenever they change. */
const READ_ONLY_PARAMETERS = ['in_hot_standby', 'default_transaction_read_only'];

const PLAN_ONCE = 'set jit = off; set plan_cache_mode = force_generic_plan; set enable_seqscan = off';
const PLAN_EACH_TIME = 'set jit = off; reset plan_cache_mode; reset enable_seqscan';

/** Requires the right to create a schema even if it exists. BullMQ runs it at each start. */
const CREATE_SCHEMA = /^create schema if not exists "?(\w+)"?$/i;
const createSchemaOnce = (schema: string): string =>
  `do $$ begin if to_regnamespace('${schema}') is null then create schema ${schema}; end if; end $$`;
/**
 * Settings of a role or a database that change what statements mean or find, or the texts of values: pg, TypeORM and BullMQ read
 * and write with PostgreSQL's own defaults.
 */
export const OWN_SETTINGS = {
  ...{
    datestyle: 'ISO, MDY',
    intervalstyle: 'postgres',
    timezone: 'UTC',
    bytea_output: 'hex',
    extra_float_digits: '1',
  },
  ...{
    standard_conforming_strings: 'on',
    array_nulls: 'on',
    transform_null_equals: 'off',
    quote_all_identifiers: 'off',
    gin_fuzzy_search_limit: '0',
  },
  ...{ default_transaction_isolation: 'read committed', default_transaction_deferrable: 'off', exit_on_error: 'off' },
};

/** One `-c name=value` of startup options. */
const OPTION = /-c\s*([\w.]+)=(\S+)/g;

/** Sets a limit, unless the administrator of the database has set a smaller one; 0 means none. */
const limit = (name: string, ms: number): string => `
  select set_config(name, least(nullif(setting::int, 0), ${ms})::text, false) from pg_settings where name = '${name}'`;
/** Removes limits, also those of newer servers only. */
const unlimited = (...names: string[]): string =>
  `select set_config(name, '0', false) from pg_settings where name in (${names.map(escapeLiteral).join(', ')})`;
const NO_LIMITS = unlimited('statement_timeout', 'lock_timeout', 'transaction_timeout');
/** Connections that listen, or hold the lock of migrations, are idle. */
const MAY_BE_IDLE = unlimited('idle_session_timeout');

/** PostgreSQL ends a statement within this time after its client has disconnected. Some platforms do not support it. */
const WATCH_CLIENT = limit('client_connection_check_interval', 1000);

export interface PostgresConnectionConfig extends ClientConfig {
  /** A connection counts as lost when its statement receives no byte for this long, in ms. Default: 8000; 0: never. */
  silenceMs?: number;
  /** For maintenance: no limits on statements and waits for locks, whatever the server's defaults. Also if `silenceMs` is 0. */
  isUnlimited?: boolean;
  /** Maximum wait of a statement for a lock, in ms. Default: that of the server. */
  lockTimeoutMs?: number;
}

/** Private parts of pg's `Client` that pg-pool also uses. */
interface Internals {
  readyForQuery: boolean;
  _queryable: boolean;
  _ending: boolean;
}

/**
 * A connection of our pools and of BullMQ's. A network may drop a connection without a reset, so it is closed after
 * `silenceMs` without a response. pg's `query_timeout` would fail only the statement, and the pool would reuse the dead
 * connection. An idle connection is checked with a statement after the same time, so that a worker does not listen on a
 * dead one. When PostgreSQL ends a connection in use, its statement fails, and that is enough: without a listener, the
 * `error` event would also end the process.
 *
 * PostgreSQL stops a statement at the same time, and one whose client has disconnected within a second: no statement outlives
 * its request. Only maintenance is exempt from the first.
 *
 * A connection to a read-only server is closed when a write was rejected, and after `silenceMs` at the latest: after a
 * failover, only a new connection reaches the server that the address now leads to.
 *
 * `options`, in which BullMQ passes its `search_path`, are set by SQL once connected: PgBouncer rejects a connection that
 * sends them. Those of the connection string are the operator's and are sent.
 */
export class PostgresConnection extends Client {
  /** Undefined before the first statement. */
  private plansOnce?: boolean;
  /** Statements that set our own settings, the limits and `options`. */
  private readonly settings: string;

  constructor({
    silenceMs = SILENCE_MS,
    isUnlimited = silenceMs === 0,
    lockTimeoutMs,
    options = '',
    ...config
  }: PostgresConnectionConfig = {}) {
    super({ ...config, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS });
    const set = (setting: string[]) => `select set_config(${setting.map(escapeLiteral).join(', ')}, false)`;
    const asked = Array.from(options.matchAll(OPTION), ([, ...setting]) => setting);
    const limits = isUnlimited
      ? [NO_LIMITS]
      : [limit('statement_timeout', silenceMs), ...(lockTimeoutMs ? [limit('lock_timeout', lockTimeoutMs)] : [])];
    this.settings = [...[...Object.entries(OWN_SETTINGS), ...asked].map(set), ...limits, MAY_BE_IDLE].join(';');
    this.on('error', () => undefined);
    this.on('connect', () => this.watchForSilence(silenceMs));
    this.watchForReadOnlyServer(silenceMs);
  }

  /** Like pg's `connect`. Fails, and closes the connection, when a setting fails. */
  override connect(): Promise<Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<Client> | void {
    if (!callback)
      return new Promise((resolve, reject) => this.connect((e?: Error) => (e ? reject(e) : resolve(this))));
    super.connect((error?: Error) => {
      if (error) return callback(error);
      super.query(this.settings, (failure) => {
        if (!failure) return super.query(WATCH_CLIENT, () => callback(failure));
        void this.end();
        callback(failure);
      });
    });
  }

  /**
   * Like pg's `query`. A named statement is planned once, with indexes, regardless of the current contents of the
   * tables; any other statement is planned for its values. Otherwise PostgreSQL would plan named statements that join
   * partitions at each execution, which takes longer than the execution.
   */
  override query(...args: never[]): never {
    const schema = CREATE_SCHEMA.exec(String(args[0]))?.[1];
    if (schema !== undefined) args[0] = createSchemaOnce(schema) as never;
    const run = () => super.query(...(args as unknown as [string])) as never;
    const [config, callback] = [args[0], args.at(-1)] as unknown as [unknown, ((error: Error) => void) | undefined];
    const plansOnce = typeof config === 'object' && config !== null && 'name' in config;
    if (plansOnce === this.plansOnce) return run();
    this.plansOnce = plansOnce;
    const settings = plansOnce ? PLAN_ONCE : PLAN_EACH_TIME;
    if (typeof callback !== 'function') return super.query(settings).then(run) as never;
    return super.query(settings, (error) => (error ? callback(error) : run())) as never;
  }

  private watchForSilence(silenceMs: number): void {
    const { stream } = this.connection;
    if (!(stream instanceof Socket)) return;
    stream.setTimeout(silenceMs);
    // Not a callback of `setTimeout`, which would be called only once.
    stream.on('timeout', () => {
      if (this.isIdle()) super.query('select 1', () => undefined);
      else stream.destroy(new Error(`Connection terminated: PostgreSQL was silent for ${silenceMs} ms.`));
    });
  }

  private watchForReadOnlyServer(leaveAfterMs: number): void {
    const reasons = new Set<string>();
    let timer: NodeJS.Timeout | undefined;
    let isLeaving = false;
    const leave = (): void => {
      isLeaving = true;
      if (this.isIdle() && this.getTransactionStatus() === 'I') this.leaveReadOnlyServer();
    };
    this.connection.on('parameterStatus', ({ parameterName = '', parameterValue }: Record<string, string>) => {
      if (!READ_ONLY_PARAMETERS.includes(parameterName)) return;
      reasons[parameterValue === 'on' ? 'add' : 'delete'](parameterName);
      if (reasons.size > 0 && leaveAfterMs > 0) timer ??= setTimeout(leave, leaveAfterMs).unref();
      else timer = void clearTimeout(timer);
    });
    this.connection.on('errorMessage', (error: unknown) => {
      if (!isDatabaseReadOnly(error)) return;
      isLeaving = true;
      // The error arrives before its statement ends. A pool that gets the connection back meanwhile must close it.
      if (this.getTransactionStatus() === 'I') this.internals._queryable = false;
    });
    this.connection.on('readyForQuery', ({ status }: { status: string }) => {
      // "I": no transaction is open.
      if (isLeaving && status === 'I') this.leaveReadOnlyServer();
    });
    this.on('end', () => clearTimeout(timer));
  }

  private leaveReadOnlyServer(): void {
    // A pool that received the error is already closing the connection.
    if (this.internals._ending) return;
    this.connection.stream.destroy(new Error(`Connection terminated: ${TAKES_NO_WRITES}`));
  }

  private isIdle(): boolean {
    return this.internals.readyForQuery;
  }

  private get internals(): Internals {
    return this as unknown as Internals;
  }
}
