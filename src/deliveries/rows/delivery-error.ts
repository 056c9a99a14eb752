import type { HttpFailure } from '../../infrastructure/destinations/exchange.client';
import type { FailureCode, Phase, TlsFault } from '../../infrastructure/destinations/failure';

/** Error codes of deliveries that did not succeed; a closed list. */
export type ErrorCode =
  | FailureCode
  | 'http_status'
  | 'redirect'
  | 'webhook_deleted'
  | 'webhook_disabled'
  | 'backlog_full'
  | 'expired'
  | 'rejected'
  | 'projection_failed'
  | 'internal';

/** Details of one attempt that its error message may include. */
export interface Facts extends Pick<HttpFailure, 'rule' | 'phase' | 'tls'> {
  durationMs: number;
  timeoutMs: number;
  /** The webhook's own url. The message may include its host and port, but never the address that the host resolves to. */
  url?: string;
  responseStatus?: number;
}

/** Why a delivery did not succeed: a code for programs and a message for people. */
export interface DeliveryError {
  code: ErrorCode;
  /** Says what happened and how to fix it. Never includes a resolved address. */
  message: string;
}

const MESSAGES: Record<ErrorCode, (facts: Facts) => string> = {
  http_status: ({ responseStatus = 0, durationMs }) =>
    `Your server answered ${responseStatus} after ${durationMs} ms. ${adviceFor(responseStatus)}`,
  redirect: ({ responseStatus }) =>
    `Your server answered with a redirect (${responseStatus}), and redirects are never followed. Register the final url: the location header of the response names it.`,
  timeout: (facts) => timeoutMessage(facts),
  connection_refused: (facts) =>
    `${serverIn(facts)} refused the connection after ${facts.durationMs} ms. Check that your server runs, and that it listens on that port for connections from outside.`,
  connection_reset: (facts) =>
    `${serverIn(facts)} closed the connection after ${facts.durationMs} ms, before an answer arrived. Check whether your server, or a proxy before it, crashed or closes connections early.`,
  unreachable: (facts) =>
    `${serverIn(facts)} could not be reached: there is no way to it. Check its DNS records, its network and its firewall.`,
  proxy_failed: () =>
    'Nothing was sent, because the egress proxy of this service failed. Its operator has to repair it: deliveries wait until it works, and a test can be repeated then.',
  dns_failed: () =>
    'Nothing was sent, because the name servers of this service do not answer. Your receiver is not the cause. The operator of the service has to repair them: deliveries wait until then, and a test can be repeated.',
  dns_not_found: (facts) => `The name ${hostIn(facts)} could not be resolved. Check its spelling and its DNS records.`,
  tls_invalid: (facts) => `The TLS connection to ${hostIn(facts)} could not be trusted: ${TLS[facts.tls ?? 'other']}`,
  destination_blocked: ({ rule = 'special-purpose address' }) =>
    `The url leads to a destination that is not allowed (${rule}), so nothing was sent. ${remedyFor(rule)}`,
  invalid_response: (facts) =>
    `${serverIn(facts)} sent back what is not a valid HTTP/1.1 response. Check that the url leads to an HTTP server and not to another service, and that its headers stay below 16 KiB.`,
  webhook_deleted: () => 'The webhook was deleted before this attempt was made. Create it again to get further events.',
  webhook_disabled: () =>
    'The webhook was inactive when this attempt was due. Set active to true to get further events.',
  backlog_full: () =>
    'Too many deliveries to this webhook were waiting, so this one was not sent. Recover missed events once your server keeps up.',
  expired: () =>
    'Its event is past retention, so this delivery was not sent. Check why deliveries to this webhook wait so long.',
  rejected: () =>
    'The consumer acknowledged this message as failed and gave no reason. Look into its log at this time.',
  projection_failed: () =>
    'The fields of this webhook could not be selected from the event, so nothing was sent. Remove the fields from the webhook to get all of the data, then redeliver it.',
  service_failed: () =>
    'Nothing was sent, because this service cannot send at the moment. Your receiver is not the cause. The operator of the service has to repair it: deliveries wait until then, and a test can be repeated.',
  // Only in rows of earlier versions, which are not retried.
  internal: () => 'The signing secret could not be decrypted, so nothing was sent. Set a new secret on the webhook.',
};

const TLS: Record<TlsFault | 'other', string> = {
  expired: 'its certificate has expired. Renew it, and have your server load the new one.',
  not_yet_valid: 'its certificate is not valid yet. Check the clock of the machine that made it.',
  wrong_host: 'its certificate is for another host name. Get one for this name, or register the name that it is for.',
  self_signed: 'its certificate is self-signed. Use one of a public certificate authority.',
  incomplete_chain:
    'its certificate cannot be traced to a public certificate authority. Have your server send the intermediate certificates too.',
  no_tls:
    'what listens there does not speak TLS. Register the url with http: if that is intended, or the port of https.',
  client_certificate:
    'it asks for a client certificate, which this service does not have. Check the signature instead.',
  handshake: 'the handshake failed. Let your server offer TLS 1.2 or 1.3 with current ciphers.',
  other: 'the certificate was refused. Check that it is valid, complete and issued for this name.',
};

/** Advice for response statuses. */
const ADVICE: Readonly<Record<number, string>> = {
  400: 'Look at the body of its response; if it validates the body, it must let further keys pass.',
  401: 'If it checks the signature, it must compute it over the raw body, before any parsing; npx webhooks verify finds the difference. Other credentials are not sent.',
  403: 'If it checks the signature, it must compute it over the raw body, before any parsing. A firewall, bot protection or CSRF check before it must let these POSTs pass.',
  404: 'Check the path in the url: nothing is there, or not for POST.',
  405: 'That path does not accept POST: register the one that does.',
  406: 'It insists on an accept header, which is not sent: it must answer without one.',
  408: 'It gave up waiting for the body: look for a proxy that holds requests back.',
  409: 'If that means that it knows this event already, it must answer 2xx: repeats are normal.',
  410: 'That means gone for good, and disables the webhook, unless this was a test. Set active to true when it is back.',
  413: 'Raise the limit on request bodies there; Express and nginx have one of 100 KB or 1 MB by default.',
  415: 'It must accept the content type application/json.',
  419: 'Exempt this route from the CSRF check: a webhook has no session.',
  422: 'Look at the body of its response; if it validates the body, it must let further keys pass.',
  426: 'It must accept HTTP/1.1.',
  429: 'It asks to be called less often: its Retry-After is respected, up to an hour.',
  431: 'Raise the limit on request headers there.',
  500: 'Your code failed: look into its log at this time, and answer 2xx before the work begins.',
  501: 'It does not support POST there: check the path in the url.',
  502: 'A proxy answered, because the application behind it is down or broke off: look into the logs of both.',
  503: 'It is overloaded or being maintained: its Retry-After is respected, up to an hour.',
  504: 'A proxy answered, because the application behind it took too long: answer 2xx at once and do the work afterwards.',
};
/** For 520 to 527. */
const CLOUDFLARE =
  'Cloudflare answered, because your server could not be reached from there: look up the code, and into its log.';

/** A test checks that the documentation explains these: TLS failures, timeout phases, and statuses with their own advice. */
export const EXPLAINED_TLS_FAULTS = Object.keys(TLS).filter((fault) => fault !== 'other');
export const TIMEOUT_PHASES: readonly Phase[] = ['dns', 'connect', 'tls', 'response'];
export const ADVISED_STATUSES = Object.keys(ADVICE).map(Number);

/** All error codes; the same test checks them. */
export const ERROR_CODES = Object.keys(MESSAGES) as ErrorCode[];

/** Returns the error of an attempt. Its message includes the details of that attempt. */
export function deliveryError(code: ErrorCode, facts: Facts): DeliveryError {
  return { code, message: MESSAGES[code](facts) };
}

function remedyFor(rule: string): string {
  if (rule === 'egress proxy') return 'Use another address: the proxy that requests go through is never a destination.';
  if (rule === 'plain http') return 'Use an https url: the operator has set REQUIRE_HTTPS.';
  return 'Use a public address, or have the operator list the network in ALLOWED_NETWORKS.';
}

function adviceFor(status: number): string {
  if (status >= 520 && status <= 527) return CLOUDFLARE;
  return ADVICE[status] ?? (status >= 505 ? 'Look into its log at this time.' : 'Any 2xx counts as received.');
}

function timeoutMessage(facts: Facts): string {
  const limit = `within ${facts.timeoutMs} ms`;
  const server = serverIn(facts);
  switch (facts.phase) {
    case 'dns':
      return `The name ${hostIn(facts)} was not resolved ${limit}. Check that the name servers of its domain answer.`;
    case 'connect':
      return `${server} did not take the connection ${limit}. Check that your server runs, and that its firewall does not drop connections.`;
    case 'tls':
      return `${server} took the connection, but did not finish the TLS handshake ${limit}. Check that it speaks TLS on that port and is not overloaded.`;
    case 'response':
      return `${server} took the request, but did not answer ${limit}. Answer 2xx at once and do the work afterwards.`;
    default:
      return `${server} did not answer ${limit}. Answer 2xx at once and do the work afterwards.`;
  }
}

function hostIn({ url }: Facts): string {
  return url === undefined ? 'in the url' : new URL(url).hostname;
}

function serverIn({ url }: Facts): string {
  if (url === undefined) return 'Your server';
  const { hostname, port, protocol } = new URL(url);
  return `Your server (${hostname}, port ${port || (protocol === 'https:' ? 443 : 80)})`;
}
