import type { FailureCode } from '../destinations/failure';

/** Every reason a delivery can have for not having succeeded: a closed list. */
export type ErrorCode = FailureCode | 'http_status' | 'redirect' | 'webhook_deleted' | 'webhook_disabled' | 'internal';

/** The facts of one attempt that its sentence may name. */
export interface Facts {
  durationMs: number;
  timeoutMs: number;
  responseStatus?: number;
  /** Name of the rule that refused the destination. */
  rule?: string;
}

export interface DeliveryError {
  code: ErrorCode;
  /** One sentence that says what happened and what to do. Never a resolved address. */
  message: string;
}

const SENTENCES: Record<ErrorCode, (facts: Facts) => string> = {
  http_status: ({ responseStatus, durationMs }) =>
    `Your server answered ${responseStatus} after ${durationMs} ms. ${adviceFor(responseStatus ?? 0)}`,
  redirect: ({ responseStatus }) =>
    `Your server answered with a redirect (${responseStatus}), and redirects are never followed. Change the webhook's url to the final address.`,
  timeout: ({ timeoutMs }) =>
    `Your server did not answer within ${timeoutMs} ms. Answer 2xx at once and do the work afterwards.`,
  connection_refused: () =>
    'Your server refused the connection. Check that it is running and listens on the port in the url.',
  connection_reset: () =>
    'The connection was closed before an answer arrived. Check whether your server, or a proxy before it, crashed or closes connections early.',
  unreachable: () => 'Your server could not be reached. Check its address, its network and its firewall.',
  dns_not_found: () => 'The host name in the url could not be resolved. Check its spelling and its DNS records.',
  tls_invalid: () =>
    'The TLS connection could not be made or trusted. Check that the certificate is valid, complete and issued for this host name.',
  destination_blocked: ({ rule = 'special-purpose address' }) =>
    `The url leads to a destination that is not allowed (${rule}), so nothing was sent. ${remedyFor(rule)}`,
  invalid_response: () =>
    'What came back is not a valid HTTP response. Check that the url leads to an HTTP server and not to another service.',
  webhook_deleted: () => 'The webhook was deleted before this attempt was made. Create it again to get further events.',
  webhook_disabled: () =>
    'The webhook was inactive when this attempt was due. Set active to true to get further events.',
  internal: () => 'The signing secret could not be decrypted, so nothing was sent. Set a new secret on the webhook.',
};

/** Every code, for the documentation's check. */
export const ERROR_CODES = Object.keys(SENTENCES) as ErrorCode[];

/** The error of an attempt, told with its facts. */
export function deliveryError(code: ErrorCode, facts: Facts): DeliveryError {
  return { code, message: SENTENCES[code](facts) };
}

function remedyFor(rule: string): string {
  if (rule === 'plain http') return 'Use an https url: the operator has set REQUIRE_HTTPS.';
  return 'Use a public address, or have the operator list the network in ALLOWED_NETWORKS.';
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) {
    return 'If it checks the signature, it must compute it over the raw body, before any parsing.';
  }
  if (status === 404 || status === 405) return 'Check the path in the url, and that it accepts POST.';
  if (status === 410) return 'It says that it is gone for good.';
  if (status === 413) return 'Raise the limit on request bodies there.';
  if (status === 429) return 'It asks to be called less often; Retry-After is respected.';
  if (status >= 500) return 'Look into its log at this time.';
  return 'Any 2xx counts as received.';
}
