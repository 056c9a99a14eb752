import { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';

const SILENCE_MS = 8000;
const KEEP_ALIVE_AFTER_MS = 10_000;

const PLAN_ONCE = 'set plan_cache_mode = force_generic_plan; set enable_seqscan = off';
const PLAN_EACH_TIME = 'reset plan_cache_mode; reset enable_seqscan';

export interface PostgresConnectionConfig extends ClientConfig {
  /** A statement that has got no byte of an answer for this long has lost its connection without a word. Default: 8000. */
  silenceMs?: number;
}

/**
 * A connection of any of our pools, and of BullMQ's. One that a network swallows without a reset is given up; the `query_timeout`
 * of pg would only fail the statement, and its pool would hand the dead connection to the next. One that is idle is asked
 * now and then, or a worker would go on listening to nobody. When PostgreSQL ends a connection while it is checked out,
 * its statement fails, which is enough: without a listener the `error` event would end the process as well.
 */
export class PostgresConnection extends Client {
  private plansOnce = false;

  constructor({ silenceMs = SILENCE_MS, ...config }: PostgresConnectionConfig = {}) {
    super({ ...config, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS });
    this.on('error', () => undefined);
    this.on('connect', () => this.watchForSilence(silenceMs));
  }

  /**
   * A statement with a name is planned once, by indexes whatever the tables hold at that moment; any other for its values.
   * Left alone, PostgreSQL plans those that join partitions at each execution, which takes longer than to execute them.
   */
  override query(...args: never[]): never {
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
    // A callback of setTimeout would be called once.
    stream.on('timeout', () => {
      if (this.isIdle()) super.query('select 1', () => undefined);
      else stream.destroy(new Error(`Connection terminated: PostgreSQL was silent for ${silenceMs} ms.`));
    });
  }

  private isIdle(): boolean {
    return (this as unknown as { readyForQuery: boolean }).readyForQuery;
  }
}
