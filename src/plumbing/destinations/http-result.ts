import type { FailureCode, Phase, TlsFault } from './failure';

/** A request that only has to be sent: the headers are complete, the body is the bytes that were signed. */
export interface PreparedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request for something to read. */
export type PreparedGet = Omit<PreparedRequest, 'body'>;

/** The receiver sent a status line, whatever it says. */
export interface HttpResponse {
  readonly kind: 'response';
  /** 200 to 999. */
  readonly status: number;
  /** Lower-case names; a name that came more than once has all its values. */
  readonly headers: Record<string, string | string[]>;
  /** The beginning of the body as UTF-8, with U+FFFD for bytes that are not. May hold NUL. */
  readonly body: string;
  /** The body is longer than what is kept, or did not end as it should. */
  readonly bodyTruncated: boolean;
  /** From the start to the status line. */
  readonly durationMs: number;
}

/** There was no status line that counts. */
export interface HttpFailure {
  readonly kind: 'failure';
  readonly code: FailureCode;
  /** Of `destination_blocked`: the kind of network, or what forbids the url. */
  readonly rule?: string;
  /** Of `timeout`: what had not come to an end. */
  readonly phase?: Phase;
  /** Of `tls_invalid`, where it is known. */
  readonly tls?: TlsFault;
  readonly durationMs: number;
}

export type HttpResult = HttpResponse | HttpFailure;
