import type { FailureCode, Phase, TlsFault } from './failure';

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
