import { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';

const SILENCE_MS = 8000;
const KEEP_ALIVE_AFTER_MS = 10_000;

export interface PostgresConnectionConfig extends ClientConfig {
  /** A statement that has got no byte of an answer for this long has lost its connection without a word. Default: 8000. */
  silenceMs?: number;
}

/**
 * A connection of any of our pools, and of BullMQ's. One that a network swallows without a reset is given up; the `query_timeout`
 * of pg would only fail the statement, and its pool would hand the dead connection to the next. When PostgreSQL ends a
 * connection while it is checked out, its statement fails, which is enough: without a listener the `error` event would
 * end the process as well.
 */
export class PostgresConnection extends Client {
  constructor({ silenceMs = SILENCE_MS, ...config }: PostgresConnectionConfig = {}) {
    super({ ...config, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS });
    this.on('error', () => undefined);
    this.on('connect', () => this.watchForSilence(silenceMs));
  }

  private watchForSilence(silenceMs: number): void {
    const { stream } = this.connection;
    if (!(stream instanceof Socket)) return;
    stream.setTimeout(silenceMs, () => {
      if (this.isIdle()) return;
      stream.destroy(new Error(`Connection terminated: PostgreSQL was silent for ${silenceMs} ms.`));
    });
  }

  private isIdle(): boolean {
    return (this as unknown as { readyForQuery: boolean }).readyForQuery;
  }
}
