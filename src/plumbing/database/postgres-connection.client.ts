import { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';

const SILENCE_MS = 8000;
const KEEP_ALIVE_AFTER_MS = 10_000;

const PLAN_ONCE = 'set plan_cache_mode = force_generic_plan; set enable_seqscan = off';
const PLAN_EACH_TIME = 'reset plan_cache_mode; reset enable_seqscan';

export interface PostgresConnectionConfig extends ClientConfig {
  /** When a statement gets no byte of an answer for this long, its connection counts as lost. Default: 8000. */
  silenceMs?: number;
}

/**
 * A connection of our pools and of BullMQ's. A network may lose a connection without a reset; after `silenceMs` it is
 * given up. The `query_timeout` of pg would only fail the statement, and the pool would give the dead connection to the
 * next one. An idle connection is sent a statement after the same time, so that a worker does not listen on a dead one.
 * When PostgreSQL ends a connection that is in use, its statement fails, and that is enough: without a listener the
 * `error` event would also end the process.
 */
export class PostgresConnection extends Client {
  private plansOnce = false;

  constructor({ silenceMs = SILENCE_MS, ...config }: PostgresConnectionConfig = {}) {
    super({ ...config, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS });
    this.on('error', () => undefined);
    this.on('connect', () => this.watchForSilence(silenceMs));
  }

  /**
   * Like pg's `query`. A statement with a name is planned once, with indexes, whatever the tables hold at that moment;
   * any other statement is planned for its values. Without this PostgreSQL plans named statements that join partitions
   * at each execution, which takes longer than the execution.
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
    // Not a callback of `setTimeout`: it would be called only once.
    stream.on('timeout', () => {
      if (this.isIdle()) super.query('select 1', () => undefined);
      else stream.destroy(new Error(`Connection terminated: PostgreSQL was silent for ${silenceMs} ms.`));
    });
  }

  private isIdle(): boolean {
    return (this as unknown as { readyForQuery: boolean }).readyForQuery;
  }
}
