import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { AddressPolicy } from './address';
import { ConnectError, DestinationBlockedError, NotConnectedError } from './connect-errors';
import type { ConnectProgress, ProgressConnector } from './connections.client';
import { NameResolver } from './resolver.client';
import { isLocalhost, LOCALHOST_ADDRESSES } from './url';

/** A receiver with more addresses than this has more than enough of them. */
const MAX_DIALLED_ADDRESSES = 8;

/** How long one address of several may take before the next one is tried; the last one has the whole deadline. */
const NEXT_ADDRESS_AFTER_MS = 500;

export interface ConnectorOptions {
  readonly policy: AddressPolicy;
  readonly resolver: NameResolver;
  /** For DNS, TCP and TLS together. */
  readonly timeoutMs: number;
  /** PEM certificates that are trusted instead of Node's own. */
  readonly trustedCertificates?: string;
}

/**
 * Makes undici's connections, and only to addresses that the policy allows: literals are judged before a socket exists
 * (Node asks `lookup` only for names), names by a lookup that hands on allowed addresses alone, and the address that
 * was really reached once more. TLS certificates are always verified.
 */
export class Connector {
  /** True while undici is given a new connection: what it sends meanwhile is that connection's first request. */
  isHandingOver = false;

  private readonly policy: AddressPolicy;
  private readonly resolver: NameResolver;
  private readonly dial: (...args: Parameters<buildConnector.connector>) => unknown;

  constructor({ policy, resolver, timeoutMs, trustedCertificates }: ConnectorOptions) {
    this.policy = policy;
    this.resolver = resolver;
    this.dial = buildConnector({
      ca: trustedCertificates,
      rejectUnauthorized: true,
      allowH2: false,
      timeout: timeoutMs,
      lookup: this.lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    });
  }

  readonly connect: ProgressConnector = (options, callback, progress) => {
    const verdict = isIP(options.hostname) === 0 ? undefined : this.policy.judge(options.hostname);
    if (verdict?.allowed === false) {
      // Not in the same turn: undici is still busy with the request that asks for this connection.
      process.nextTick(callback, new DestinationBlockedError(verdict.rule), null);
      return;
    }
    const socket = this.dial({ ...options, servername: serverName(options.hostname) }, (error, socket) => {
      if (error !== null) callback(asNotConnected(error), null);
      else this.handOver(socket, callback);
    });
    // undici's types keep to themselves that the socket is returned.
    follow(socket as Socket, options, progress);
  };

  private handOver(socket: Socket, callback: buildConnector.Callback): void {
    // undici asks for a new connection without end when it is given a dead socket, so that is an error here.
    if (socket.destroyed || socket.remoteAddress === undefined) return callback(new ConnectError(closedEarly()), null);
    const verdict = this.policy.judge(socket.remoteAddress);
    if (!verdict.allowed) {
      socket.destroy();
      return callback(new DestinationBlockedError(verdict.rule), null);
    }
    this.isHandingOver = true;
    try {
      callback(null, socket);
    } finally {
      this.isHandingOver = false;
    }
  }

  private readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.allowedAddresses(hostname).then(
      (found) => (options.all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family)),
      (error: Error) => callback(error, []),
    );
  };

  private async allowedAddresses(hostname: string): Promise<LookupAddress[]> {
    const addresses = isLocalhost(hostname) ? LOCALHOST_ADDRESSES : await this.resolver.resolve(hostname);
    const verdicts = addresses.map((address) => this.policy.judge(address));
    const allowed = addresses.filter((_, index) => verdicts[index]?.allowed);
    if (allowed.length > 0) return withFamilies(allowed);
    const denied = verdicts.find((verdict) => !verdict.allowed);
    throw new DestinationBlockedError(denied?.rule ?? 'no address');
  }
}

/** Notes what the socket has done: its name is resolved, it is connected. A literal address has no name. */
function follow(socket: Socket, { hostname, protocol }: buildConnector.Options, progress: ConnectProgress): void {
  progress.phase = isIP(hostname) === 0 ? 'dns' : 'connect';
  socket.once('lookup', (error: Error | null) => {
    if (error === null) progress.phase = 'connect';
  });
  socket.once('connect', () => (progress.phase = protocol === 'https:' ? 'tls' : 'response'));
}

function withFamilies(addresses: readonly string[]): LookupAddress[] {
  return addresses.slice(0, MAX_DIALLED_ADDRESSES).map((address) => ({ address, family: isIP(address) }));
}

/** What SNI and the certificate are about: a name without its trailing dot (RFC 6066, section 3), never an address. */
function serverName(hostname: string): string | undefined {
  return isIP(hostname) === 0 ? hostname.replace(/\.+$/, '') : undefined;
}

function asNotConnected(error: Error): NotConnectedError {
  return error instanceof NotConnectedError ? error : new ConnectError(error);
}

function closedEarly(): NodeJS.ErrnoException {
  return Object.assign(new Error('closed before its first request'), { code: 'ECONNRESET' });
}
