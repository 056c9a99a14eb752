import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { AddressPolicy } from './address';
import { ContinueAnswers } from './continue-answer';
import { ConnectError, DestinationBlockedError, NotConnectedError } from './connect-errors';
import type { ConnectProgress, ProgressConnector } from './connections.client';
import { NameResolver } from './resolver.client';
import { trusting } from './trusted-certificates.client';
import { isLocalhost, LOCALHOST_ADDRESSES } from './url';

/** At most this many of a receiver's addresses are tried. */
const MAX_DIALLED_ADDRESSES = 8;

/** How long one of several addresses is tried before the next one; the last has the rest of the deadline. */
const NEXT_ADDRESS_AFTER_MS = 500;

export interface ConnectorOptions {
  readonly policy: AddressPolicy;
  readonly resolver: NameResolver;
  /** One deadline for DNS, TCP and TLS together. */
  readonly timeoutMs: number;
  /** PEM certificates that are trusted besides Node's own. */
  readonly trustedCertificates?: readonly string[];
}

/**
 * Opens undici's connections, only to addresses that the policy allows. A literal address is checked before a socket
 * exists, because Node calls `lookup` only for names. For a name, `lookup` returns only allowed addresses. The address
 * that was actually reached is checked again. TLS certificates are always verified.
 */
export class Connector {
  /** True while undici receives a new connection. A request that begins meanwhile is the first one on that connection. */
  isHandingOver = false;

  private readonly policy: AddressPolicy;
  private readonly resolver: NameResolver;
  private readonly dial: (...args: Parameters<buildConnector.connector>) => unknown;

  constructor({ policy, resolver, timeoutMs, trustedCertificates }: ConnectorOptions) {
    this.policy = policy;
    this.resolver = resolver;
    this.dial = buildConnector({
      secureContext: trustedCertificates && trusting(trustedCertificates),
      rejectUnauthorized: true,
      allowH2: false,
      timeout: timeoutMs,
      lookup: this.lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    });
  }

  /** Connects, and calls back with a socket or with a NotConnectedError. */
  readonly connect: ProgressConnector = (options, callback, progress) => {
    const verdict = isIP(options.hostname) === 0 ? undefined : this.policy.classify(options.hostname);
    if (verdict?.allowed === false) {
      // Not in the same tick, because undici is still processing the request that needs this connection.
      process.nextTick(callback, new DestinationBlockedError(verdict.rule), null);
      return;
    }
    const socket = this.dial({ ...options, servername: serverName(options.hostname) }, (error, socket) => {
      if (error !== null) callback(asNotConnected(error), null);
      else this.handOver(socket, callback);
    });
    // undici's types do not declare that the socket is returned.
    follow(socket as Socket, options, progress);
  };

  private handOver(socket: Socket, callback: buildConnector.Callback): void {
    // When undici gets a dead socket, it requests new connections endlessly, so a dead socket is an error here.
    if (socket.destroyed || socket.remoteAddress === undefined) return callback(new ConnectError(closedEarly()), null);
    const verdict = this.policy.classify(socket.remoteAddress);
    if (!verdict.allowed) {
      socket.destroy();
      return callback(new DestinationBlockedError(verdict.rule), null);
    }
    showContinueAnswers(socket);
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
    const verdicts = addresses.map((address) => this.policy.classify(address));
    const allowed = addresses.filter((_, index) => verdicts[index]?.allowed);
    if (allowed.length > 0) return withFamilies(allowed);
    const denied = verdicts.find((verdict) => !verdict.allowed);
    throw new DestinationBlockedError(denied?.rule ?? 'no address');
  }
}

/** undici reads a socket with `read` and sends each request with `write`. */
function showContinueAnswers(socket: Socket): void {
  const answers = new ContinueAnswers();
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)] as [
    () => Buffer | null,
    typeof socket.write,
  ];
  socket.read = () => {
    const chunk = read();
    if (chunk) answers.show(chunk);
    return chunk;
  };
  socket.write = ((...args: Parameters<typeof write>) => {
    answers.requested();
    return write(...args);
  }) as typeof write;
}

/** Records the progress of the socket: name resolved, connected. A literal address has no name to resolve. */
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

/** Returns the name for SNI and the certificate: without its trailing dot (RFC 6066, section 3), and never an address. */
function serverName(hostname: string): string | undefined {
  return isIP(hostname) === 0 ? hostname.replace(/\.+$/, '') : undefined;
}

function asNotConnected(error: Error): NotConnectedError {
  return error instanceof NotConnectedError ? error : new ConnectError(error);
}

function closedEarly(): NodeJS.ErrnoException {
  return Object.assign(new Error('closed before its first request'), { code: 'ECONNRESET' });
}
