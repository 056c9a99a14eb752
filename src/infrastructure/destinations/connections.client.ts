import { type buildConnector, Client } from 'undici';
import { ContinueAnswers } from './continue-answer';
import type { Phase } from './failure';

/** How long an idle connection stays open. A receiver's `keep-alive` hint can only shorten this. */
const IDLE_CONNECTION_MS = 4_000;

/** Older connections are not reused, so that address changes in DNS take effect. */
const MAX_CONNECTION_AGE_MS = 60_000;

const MAX_HEADER_BYTES = 16 * 1024;

/** One shared error: no code reads it, and a new stack trace is more expensive than closing the connection. */
export const DISCARDED = new Error('the connection was discarded');

export interface ConnectProgress {
  /** `proxy` until the egress proxy has proved that it works. */
  phase: Phase | 'proxy';
  /** Of connections to receivers only. */
  readonly answers?: ContinueAnswers;
}

export type ProgressConnector = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
  progress: ConnectProgress,
) => void;

/** One connection to an origin, for one request at a time. undici connects it at the first request. */
export class Connection extends Client {
  isIdle = false;
  private readonly progress: ConnectProgress;
  private readonly answers: ContinueAnswers;

  constructor(
    readonly origin: string,
    readonly openedAt: number,
    connect: ProgressConnector,
  ) {
    const answers = new ContinueAnswers();
    const progress: ConnectProgress = { phase: 'dns', answers };
    super(origin, {
      connect: (options, callback) => connect(options, callback, progress),
      pipelining: 1,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      keepAliveMaxTimeout: IDLE_CONNECTION_MS,
      keepAliveTimeoutThreshold: 1_000,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The exchange has its own deadlines. These would restart with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.progress = progress;
    this.answers = answers;
  }

  get phase(): ConnectProgress['phase'] {
    return this.progress.phase;
  }

  /** The status of the response to the request in flight, as soon as it is read; null before. */
  get status(): number | null {
    return this.answers.status;
  }

  /** Forgets the response before, because the connection may fail before the next request is sent. */
  forgetStatus(): void {
    this.answers.status = null;
  }
}

/**
 * The connections of this process: one for each request in flight, and the idle ones. DELIVERY_CONCURRENCY and
 * WEBHOOK_CONCURRENCY limit the requests. No request waits here, because that time would count against the receiver.
 *
 * undici's Agent is not used. It opens a new, useless connection after every abort, and therefore after every timeout.
 * It cannot cancel a request before it is connected, and it searches all connections for a free one.
 */
export class Connections {
  private readonly all = new Set<Connection>();
  private readonly idle = new Map<string, Connection[]>();
  private isClosed = false;

  constructor(private readonly connect: ProgressConnector) {}

  /** Returns the most recently used idle connection to this origin at `performance.now()`, or a new one. */
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
      // undici reconnects by itself while a request is pending.
      if (connection.isIdle) this.forget(connection);
    });
    this.all.add(connection);
    return connection;
  }

  /** Makes a connection idle after a successful exchange. (undici waits one turn of the event loop before it reuses it.) */
  giveBack(connection: Connection): void {
    connection.isIdle = true;
    connection.forgetStatus();
    const idle = this.idle.get(connection.origin);
    if (idle === undefined) this.idle.set(connection.origin, [connection]);
    else idle.push(connection);
  }

  discard(connection: Connection): void {
    this.all.delete(connection);
    connection.isIdle = false;
    connection.destroy(DISCARDED, () => undefined);
    if (this.idle.get(connection.origin)?.length === 0) this.idle.delete(connection.origin);
  }

  /** Closes all connections. Every request in flight ends with an error of this process. */
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
