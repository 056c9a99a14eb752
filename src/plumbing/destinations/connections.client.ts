import { type buildConnector, Client } from 'undici';
import type { Phase } from './failure';

/** How long a connection waits for its next request; a receiver's own `keep-alive` hint can only shorten it. */
const IDLE_CONNECTION_MS = 4_000;

/** After this a connection is not used again, so that a name that has moved is looked up again. */
const MAX_CONNECTION_AGE_MS = 60_000;

const MAX_HEADER_BYTES = 16 * 1024;

/** One for all: nobody reads it, and a stack trace costs more than the rest of the ending. */
export const DISCARDED = new Error('the connection was discarded');

/** Where a connection that is being made has got to. */
export interface ConnectProgress {
  phase: Phase;
}

export type ProgressConnector = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
  progress: ConnectProgress,
) => void;

/** One connection to an origin, for one request at a time. undici opens it with the first request. */
export class Connection extends Client {
  isIdle = false;
  private readonly progress: ConnectProgress;

  constructor(
    readonly origin: string,
    readonly openedAt: number,
    connect: ProgressConnector,
  ) {
    const progress: ConnectProgress = { phase: 'dns' };
    super(origin, {
      connect: (options, callback) => connect(options, callback, progress),
      pipelining: 1,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      keepAliveMaxTimeout: IDLE_CONNECTION_MS,
      keepAliveTimeoutThreshold: 1_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The exchange has its own deadlines: these would start anew with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.progress = progress;
  }

  /** What it was last doing to get connected. */
  get phase(): Phase {
    return this.progress.phase;
  }
}

/**
 * The connections of this process: as many as there are requests under way (which DELIVERY_CONCURRENCY and
 * WEBHOOK_CONCURRENCY bound; nothing waits here for its turn, since that time would be the receiver's), and the idle
 * ones. Not undici's Agent: it answers every abort, so every timeout, with a new connection to the receiver that nobody
 * asked for, cannot cancel a request before it is connected, and searches all connections for a free one.
 */
export class Connections {
  private readonly all = new Set<Connection>();
  private readonly idle = new Map<string, Connection[]>();
  private isClosed = false;

  constructor(private readonly connect: ProgressConnector) {}

  /** The idle connection to that origin that was used last, or a new one. `now` as of `performance.now()`. */
  take(origin: string, now: number): Connection {
    const idle = this.idle.get(origin);
    for (let connection = idle?.pop(); connection !== undefined; connection = idle?.pop()) {
      connection.isIdle = false;
      if (now - connection.openedAt < MAX_CONNECTION_AGE_MS) return connection;
      this.discard(connection);
    }
    return this.open(origin, now);
  }

  open(origin: string, now: number): Connection {
    if (this.isClosed) throw new Error('the HTTP client is shut down');
    const connection = new Connection(origin, now, this.connect);
    connection.on('disconnect', () => {
      // With a request on it, undici connects again by itself.
      if (connection.isIdle) this.forget(connection);
    });
    this.all.add(connection);
    return connection;
  }

  /** For a connection whose exchange has ended as it should. (undici waits a turn before it uses it again.) */
  giveBack(connection: Connection): void {
    connection.isIdle = true;
    const idle = this.idle.get(connection.origin);
    if (idle === undefined) this.idle.set(connection.origin, [connection]);
    else idle.push(connection);
  }

  /** Closes a connection at once, connected or not; may be called again. */
  discard(connection: Connection): void {
    this.all.delete(connection);
    connection.isIdle = false;
    connection.destroy(DISCARDED, () => undefined);
    if (this.idle.get(connection.origin)?.length === 0) this.idle.delete(connection.origin);
  }

  /** Ends every request under way as a fault of this process. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.all].map((connection) => connection.destroy()));
  }

  private forget(connection: Connection): void {
    const idle = this.idle.get(connection.origin);
    idle?.splice(idle.indexOf(connection), 1);
    this.discard(connection);
  }
}
