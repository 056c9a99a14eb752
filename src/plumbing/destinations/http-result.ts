import type { FailureCode, Phase, TlsFault } from './failure';

/** A request that is ready to be sent: the headers are complete, and the body is the bytes that were signed. */
export interface PreparedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request that reads something. */
export type PreparedGet = Omit<PreparedRequest, 'body'>;

/** The receiver has sent a status line, with any status. */
export interface HttpResponse {
  readonly kind: 'response';
  /** 200 to 999. */
  readonly status: number;
  /** Names are in lower case. A name that came more than once has all its values. */
  readonly headers: Record<string, string | string[]>;
  /** The beginning of the body as UTF-8, with U+FFFD for invalid bytes. May hold NUL. */
  readonly body: string;
  /** True when the body is longer than what is kept, or did not end properly. */
  readonly bodyTruncated: boolean;
  /** From the start to the status line. */
  readonly durationMs: number;
}

/** There was no valid status line. */
export interface HttpFailure {
  readonly kind: 'failure';
  readonly code: FailureCode;
  /** For `destination_blocked`: the kind of network, or what forbids the url. */
  readonly rule?: string;
  /** For `timeout`: the step that had not ended. */
  readonly phase?: Phase;
  /** For `tls_invalid`: what was wrong, when that is known. */
  readonly tls?: TlsFault;
  readonly durationMs: number;
}

export type HttpResult = HttpResponse | HttpFailure;
