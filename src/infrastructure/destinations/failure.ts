import { isIPv4 } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';

/** No connection was established, so nothing was sent. undici reports errors of idle connections in the same way. */
export abstract class NotConnectedError extends Error {}

/** No address of the destination is allowed. `rule` names the kind of network. */
export class DestinationBlockedError extends NotConnectedError {
  constructor(readonly rule: string) {
    super('the destination is not allowed');
  }
}

/** DNS has no address for the name, or the servers of its domain failed. */
export class NameNotFoundError extends NotConnectedError {
  constructor() {
    super('the name does not resolve');
  }
}

/** The name servers of this service do not answer, not for the root of DNS either. */
export class NameServersFailedError extends NotConnectedError {
  constructor() {
    super('the name servers of this service failed');
  }
}

export class ResolveTimeoutError extends NotConnectedError {
  constructor() {
    super('the name did not resolve in time');
  }
}

/** TCP or TLS failed. `cause` is the error of the system or of OpenSSL. */
export class ConnectError extends NotConnectedError {
  constructor(override readonly cause: Error) {
    super('no connection');
  }
}

/** The egress proxy could not be used. `cause` never contains bytes of its response. */
export class ProxyFailedError extends ConnectError {}

/** The egress proxy works, but did not connect to the destination. */
export class ProxyRefusedError extends NotConnectedError {
  constructor() {
    super('the proxy refused');
  }
}

export type FailureCode =
  | 'timeout'
  | 'connection_refused'
  | 'connection_reset'
  | 'unreachable'
  | 'proxy_failed'
  | 'dns_failed'
  | 'service_failed'
  | 'dns_not_found'
  | 'tls_invalid'
  | 'destination_blocked'
  | 'invalid_response';

/** Progress of an exchange: the step in which it timed out. */
export type Phase = 'dns' | 'connect' | 'tls' | 'response';

export type TlsFault =
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_host'
  | 'self_signed'
  | 'incomplete_chain'
  | 'no_tls'
  | 'client_certificate'
  | 'handshake';

const TLS_FAULTS: readonly [code: RegExp, fault: TlsFault][] = [
  [/^CERT_HAS_EXPIRED$/, 'expired'],
  [/^CERT_NOT_YET_VALID$/, 'not_yet_valid'],
  [/^ERR_TLS_CERT_ALTNAME_/, 'wrong_host'],
  [/SELF_SIGNED_CERT/, 'self_signed'],
  [/^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)/, 'incomplete_chain'],
  [/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST)$/, 'no_tls'],
  [/CERTIFICATE_REQUIRED/, 'client_certificate'],
  [/^(ERR_SSL_|ERR_TLS_|EPROTO$)/, 'handshake'],
];

const FAILURES: ReadonlyMap<string, FailureCode> = new Map<string, FailureCode>([
  ['ETIMEDOUT', 'timeout'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['ECONNREFUSED', 'connection_refused'],
  ['ECONNRESET', 'connection_reset'],
  ['ECONNABORTED', 'connection_reset'],
  ['EPIPE', 'connection_reset'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENETUNREACH', 'unreachable'],
  ['EPROTO', 'tls_invalid'],
]);

/** This machine or this process lacks file descriptors, buffers or memory for a connection. */
const SHORTAGES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

/** This process is shutting down, or has used undici incorrectly. */
const OWN_ERRORS: ReadonlySet<string> = new Set([
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
]);

/**
 * Returns the error code of a failed exchange for the log when the receiver, the network or a part of this service caused
 * the failure. Returns undefined when this process ended or erred, because that is not an outcome of an attempt. Never throws.
 */
export function failureCode(error: Error): FailureCode | undefined {
  if (error instanceof DestinationBlockedError) return 'destination_blocked';
  if (error instanceof NameNotFoundError) return 'dns_not_found';
  if (error instanceof NameServersFailedError) return 'dns_failed';
  if (error instanceof ResolveTimeoutError) return 'timeout';
  if (error instanceof ProxyRefusedError) return 'unreachable';
  const isUnconnected = error instanceof ConnectError;
  const cause = (isUnconnected ? error.cause : error) as NodeJS.ErrnoException & { address?: string };
  const { code = '', message } = cause;
  if (SHORTAGES.has(code) || hasNoPort(cause)) return 'service_failed';
  if (OWN_ERRORS.has(code)) return undefined;
  if (error instanceof ProxyFailedError) return 'proxy_failed';
  return FAILURES.get(code) ?? (isUnconnected ? unconnectedCode(code) : connectedCode(code, message));
}

/** Returns the problem that OpenSSL or Node reports, for `tls_invalid`. Returns undefined for rarer ones. Never throws. */
export function tlsFault(error: Error): TlsFault | undefined {
  const { code = '' } = (error instanceof ConnectError ? error.cause : error) as NodeJS.ErrnoException;
  return TLS_FAULTS.find(([pattern]) => pattern.test(code))?.[1];
}

/** All local ports are in use. For an IPv6 address, the same error says that this machine has no such address. */
const hasNoPort = ({ code, address = '' }: { code?: string; address?: string }): boolean =>
  code === 'EADDRNOTAVAIL' && isIPv4(address);

/** Returns true when this machine has no network but its own, by what `os.networkInterfaces()` returns: then nothing is reachable. */
export const isOffline = (interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>): boolean =>
  Object.values(interfaces).every((addresses) => addresses?.every(({ internal }) => internal) ?? true);

function unconnectedCode(code: string): FailureCode {
  // The other codes are errno names without an underscore (EADDRNOTAVAIL) and OpenSSL's (CERT_HAS_EXPIRED, ERR_TLS_…).
  return /^E[A-Z0-9]+$/.test(code) ? 'unreachable' : 'tls_invalid';
}

function connectedCode(code: string, message: string): FailureCode {
  if (/^ERR_(SSL|TLS)_/.test(code)) return 'tls_invalid';
  // undici has one code both for a closed connection and for a response that it rejects (101).
  return code === 'UND_ERR_SOCKET' && !message.startsWith('bad ') ? 'connection_reset' : 'invalid_response';
}
