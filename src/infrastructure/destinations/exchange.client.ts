import { networkInterfaces } from 'node:os';
import { StringDecoder } from 'node:string_decoder';
import type { Dispatcher } from 'undici';
import {
  DestinationBlockedError,
  type FailureCode,
  failureCode,
  isOffline,
  NotConnectedError,
  type Phase,
  tlsFault,
  type TlsFault,
} from './failure';
import { type Connection, type Connections, DISCARDED } from './connections.client';

/** Keeps the beginning of a response body, and counts the bytes that were read. */
export class BodyExcerpt {
  private readonly chunks: Buffer[] = [];
  private keptBytes = 0;
  private seenBytes = 0;

  constructor(
    private readonly maxKeptBytes: number,
    private readonly maxSeenBytes: number,
  ) {}

  get isFull(): boolean {
    return this.seenBytes >= this.maxSeenBytes;
  }

  get isCut(): boolean {
    return this.seenBytes > this.keptBytes;
  }

  add(chunk: Buffer): void {
    this.seenBytes += chunk.length;
    const room = this.maxKeptBytes - this.keptBytes;
    if (room <= 0) return;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.chunks.push(kept);
    this.keptBytes += kept.length;
  }

  /** Returns the kept bytes as UTF-8, with U+FFFD for invalid ones (WHATWG Encoding) and without a character cut at the end. */
  text(): string {
    if (this.chunks.length === 0) return '';
    const bytes = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    return this.isCut ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8');
  }
}

/** A request that is ready to send: the headers are complete, and the body is the signed bytes. */
export interface PreparedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type PreparedGet = Omit<PreparedRequest, 'body'>;

export interface HttpResponse {
  readonly kind: 'response';
  /** 200 to 999. */
  readonly status: number;
  /** Names are in lower case. A repeated name has all its values. */
  readonly headers: Record<string, string | string[]>;
  /** The beginning of the body as UTF-8, with U+FFFD for invalid bytes. May contain NUL. */
  readonly body: string;
  /** True when the body is longer than the kept part, or did not end properly. */
  readonly bodyTruncated: boolean;
  readonly durationMs: number;
}

export interface HttpFailure {
  readonly kind: 'failure';
  readonly code: FailureCode;
  /** For `destination_blocked`: the kind of network, or the rule that forbids the url. */
  readonly rule?: string;
  /** For `timeout`: the step that did not finish. */
  readonly phase?: Phase;
  /** For `tls_invalid`: the problem, when known. */
  readonly tls?: TlsFault;
  readonly durationMs: number;
}

export type HttpResult = HttpResponse | HttpFailure;

const MAX_HEADERS = 256;
const MAX_INFORMATIONAL_ANSWERS = 100;
const MAX_HELD_UP_MS = 2000;

/** A reused connection ended before any byte of a response, so the request may be retried once. */
export const LOST = { kind: 'lost' } as const;

type ResponseHead = Pick<HttpResponse, 'status' | 'headers' | 'durationMs'>;

export type ExchangeEnd = HttpResult | typeof LOST;

/** How much of a body is kept and read, and for how long after the status line. */
export interface BodyBounds {
  readonly maxKeptBytes: number;
  readonly maxReadBytes: number;
  readonly timeoutMs: number;
}

export interface ExchangeOptions {
  /** Like `deadlineAt`, a time of `performance.now()`. */
  readonly startedAt: number;
  readonly deadlineAt: number;
  readonly body: BodyBounds;
  /** Whether the status alone is a response, whatever is wrong with the rest of it. */
  readonly isStatusEnough: boolean;
  readonly connection: Connection;
  readonly connections: Connections;
  readonly connector: {
    readonly isHandingOver: boolean;
    nameServersFail(): Promise<boolean>;
    reportOwn(error: Error): void;
  };
  readonly resolve: (end: ExchangeEnd) => void;
  /** Called only for errors of this process. */
  readonly reject: (error: Error) => void;
}

/**
 * One request and its response, as undici's handler. It releases its connection or closes it. One timer is the deadline
 * for everything up to the status line, and then for the body: undici's own timers restart with every byte, and undici
 * ignores an AbortSignal while it connects.
 */
export class HttpExchange implements Dispatcher.DispatchHandler {
  private readonly options: ExchangeOptions;
  private timer: NodeJS.Timeout;
  private hasStarted = false;
  private isSettled = false;
  private isReusedConnection = true;
  private hasAnswer = false;
  private informationalAnswers = 0;
  private head: ResponseHead | undefined;
  private body: BodyExcerpt | undefined;

  constructor(options: ExchangeOptions) {
    this.options = options;
    this.timer = setTimeout(endNow, options.deadlineAt - performance.now(), this);
  }

  onRequestStart(): void {
    this.hasStarted = true;
    this.isReusedConnection = !this.options.connector.isHandingOver;
  }

  onResponseStarted(): void {
    this.hasAnswer = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: object): void {
    if (this.isSettled) return;
    const isSwitching = status === 101 || status < 100;
    if (isSwitching || headerCount(controller) > MAX_HEADERS) return this.failAsInvalid();
    if (status < 200) return this.takeInformational();
    this.head = { status, headers: trimmed(headers as HttpResponse['headers']), durationMs: this.elapsedMs() };
    clearTimeout(this.timer);
    this.timer = setTimeout(endNow, this.options.body.timeoutMs, this);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isSettled) return;
    const { maxKeptBytes, maxReadBytes } = this.options.body;
    this.body ??= new BodyExcerpt(maxKeptBytes, maxReadBytes);
    this.body.add(chunk);
    if (this.body.isFull) this.end();
  }

  onResponseEnd(): void {
    if (this.isSettled || this.head === undefined) return;
    this.respond(this.head, this.body?.isCut ?? false, true);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.isSettled || error === DISCARDED) return;
    if (this.head !== undefined) return this.respond(this.head, true);
    if (this.isRepeatable(error)) return this.settle(LOST);
    const code = failureCode(error);
    if (code === undefined) return this.giveUp(error);
    if (code === 'invalid_response') return this.failAsInvalid();
    if (error instanceof DestinationBlockedError) return this.fail(code, { rule: error.rule });
    if (code === 'timeout') return this.failTimedOut();
    if (code === 'service_failed' || (code === 'unreachable' && isOffline(networkInterfaces())))
      return this.failOwn(error);
    this.fail(code, code === 'tls_invalid' ? { tls: tlsFault(error) } : undefined);
  }

  /**
   * Ends the exchange after bytes that undici rejects. Any 2xx status line is a success, whatever follows it: other clients read more
   * than undici. The connection is discarded, so that nothing is taken for the next response.
   */
  private failAsInvalid(): void {
    const { isStatusEnough, connection } = this.options;
    const { status } = connection;
    if (!isStatusEnough || !this.hasStarted || status === null) return this.fail('invalid_response');
    this.respond({ status, headers: {}, durationMs: this.elapsedMs() }, true);
  }

  private failOwn(error: Error): void {
    this.options.connector.reportOwn(error);
    this.fail('service_failed');
  }

  /** Ends the exchange now: with the response when there is a status line, otherwise as a timeout. */
  end(): void {
    if (this.head !== undefined) return this.respond(this.head, true);
    // A timer that fires this late was delayed because this process was stopped or starved. The receiver did not cause that.
    const heldUpMs = performance.now() - this.options.deadlineAt;
    if (heldUpMs > MAX_HELD_UP_MS) return this.giveUp(new Error(`this process was held up for ${heldUpMs} ms`));
    this.failTimedOut();
  }

  private failTimedOut(): void {
    const phase = this.hasStarted ? 'response' : this.options.connection.phase;
    if (phase === 'proxy') this.fail('proxy_failed');
    else if (phase === 'dns') void this.failAtName();
    else this.fail('timeout', { phase });
  }

  /** The servers of the name's domain are slow, or those of this service are down. */
  private async failAtName(): Promise<void> {
    const { connections, connection, connector } = this.options;
    const durationMs = this.elapsedMs();
    // The deadline is over: nothing must be sent when the name resolves meanwhile.
    connections.discard(connection);
    const isOurs = await connector.nameServersFail();
    if (this.isSettled) return;
    this.settle({
      kind: 'failure',
      ...(isOurs ? { code: 'dns_failed' } : { code: 'timeout', phase: 'dns' }),
      durationMs,
    });
  }

  private takeInformational(): void {
    this.informationalAnswers += 1;
    // Stop reading from a receiver that sends them endlessly. Its exchange ends at the deadline.
    if (this.informationalAnswers > MAX_INFORMATIONAL_ANSWERS)
      this.options.connections.discard(this.options.connection);
  }

  private isRepeatable(error: Error): boolean {
    if (!this.isReusedConnection || this.hasAnswer || error instanceof NotConnectedError) return false;
    const code = failureCode(error);
    // An error before the start comes from the chosen idle connection: nothing was sent on it.
    return this.hasStarted ? code === 'connection_reset' : code !== undefined;
  }

  private respond(head: ResponseHead, bodyTruncated: boolean, isConnectionGood = false): void {
    this.settle({ kind: 'response', ...head, body: this.body?.text() ?? '', bodyTruncated }, isConnectionGood);
  }

  private fail(code: FailureCode, facts?: Pick<HttpFailure, 'rule' | 'phase' | 'tls'>): void {
    this.settle({ kind: 'failure', code, ...facts, durationMs: this.elapsedMs() });
  }

  private settle(end: ExchangeEnd, isConnectionGood = false): void {
    this.finish(isConnectionGood);
    this.options.resolve(end);
  }

  private giveUp(error: Error): void {
    this.finish(false);
    this.options.reject(error);
  }

  private finish(isConnectionGood: boolean): void {
    this.isSettled = true;
    clearTimeout(this.timer);
    const { connections, connection } = this.options;
    if (isConnectionGood) connections.giveBack(connection);
    else connections.discard(connection);
  }

  private elapsedMs(): number {
    return Math.round(performance.now() - this.options.startedAt);
  }
}

/** White space around a value is not part of it (RFC 9110, section 5.5). */
const trimmed = (headers: HttpResponse['headers']): HttpResponse['headers'] =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((each) => each.trim()) : value.trim(),
    ]),
  );

function endNow(exchange: HttpExchange): void {
  exchange.end();
}

function headerCount(controller: Dispatcher.DispatchController): number {
  return ((controller.rawHeaders as readonly Buffer[] | null)?.length ?? 0) / 2;
}
