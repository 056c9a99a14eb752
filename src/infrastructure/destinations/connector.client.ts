import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { buildConnector } from 'undici';
import type { EgressProxy } from './egress-proxy';
import { type AddressPolicy, leadsToProxy, LOCALHOST_ADDRESSES } from './address';
import type { ContinueAnswers } from './continue-answer';
import { ConnectError, DestinationBlockedError, NotConnectedError, ProxyRefusedError } from './failure';
import type { ConnectProgress, ProgressConnector } from './connections.client';
import { NameResolver } from './resolver.client';
import { authorityOf, portOf, trusting, Tunnels } from './tunnels.client';
import { isLocalhost, serverName } from './url';

/** At most this many of a receiver's addresses are tried. */
const MAX_DIALLED_ADDRESSES = 8;

/** How long one of several addresses is tried before the next one; the last has the rest of the deadline. */
const NEXT_ADDRESS_AFTER_MS = 500;

const REPORT_EVERY_MS = 60_000;

const PROXY_RULE = 'egress proxy';

export interface ConnectorOptions {
  readonly policy: AddressPolicy;
  readonly resolver: NameResolver;
  readonly timeoutMs: number;
  readonly trustedCertificates?: readonly string[];
  readonly proxy?: EgressProxy | null;
  readonly proxyResolves?: boolean;
}

/**
 * Opens undici's connections, only to addresses that the policy allows. A literal address is checked before a socket
 * exists, because Node calls `lookup` only for names. For a name, `lookup` returns only allowed addresses. The address
 * that was actually reached is checked again. TLS certificates are always verified. With an egress proxy, CONNECT names
 * an address that was checked in the same way, and is not the proxy's own.
 */
export class Connector {
  /** True while undici receives a new connection. A request that begins meanwhile is the first one on that connection. */
  isHandingOver = false;

  private readonly logger = new Logger(Connector.name);
  private reportedAt = -Infinity;
  private readonly dial: (...args: Parameters<buildConnector.connector>) => unknown;
  private readonly tunnels: Tunnels | null;

  constructor(private readonly options: ConnectorOptions) {
    const { timeoutMs, trustedCertificates, proxy } = options;
    const secureContext = trustedCertificates && trusting(trustedCertificates);
    this.tunnels = proxy ? new Tunnels(proxy, secureContext) : null;
    this.dial = buildConnector({
      secureContext,
      rejectUnauthorized: true,
      allowH2: false,
      timeout: timeoutMs,
      lookup: this.lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    });
  }

  /** Returns whether a name that does not resolve is the fault of this service's name servers. Never rejects. */
  nameServersFail(): Promise<boolean> {
    return this.options.resolver.serversFail();
  }

  /** Logs why this process cannot connect to anything, at most once a minute. */
  reportOwn(error: Error): void {
    const now = performance.now();
    if (now - this.reportedAt < REPORT_EVERY_MS) return;
    this.reportedAt = now;
    const { code = 'unknown error' } = ((error as ConnectError).cause ?? error) as NodeJS.ErrnoException;
    this.logger.error(`This process cannot open connections (${code}); deliveries wait, and are tried every 30 s.`);
  }

  /** Connects, and calls back with a socket or with a NotConnectedError. */
  readonly connect: ProgressConnector = (options, callback, progress) => {
    const verdict = isIP(options.hostname) === 0 ? undefined : this.options.policy.classify(options.hostname);
    if (verdict?.allowed === false) {
      // Not in the same tick, because undici is still processing the request that needs this connection.
      process.nextTick(callback, new DestinationBlockedError(verdict.rule), null);
      return;
    }
    if (this.tunnels) return this.connectThrough(this.tunnels, options, callback, progress);
    // undici's types do not declare that the socket is returned.
    follow(this.secure(options, callback, progress) as Socket, options, progress);
  };

  private secure(
    options: buildConnector.Options,
    callback: buildConnector.Callback,
    { answers }: ConnectProgress,
  ): unknown {
    return this.dial({ ...options, servername: serverName(options.hostname) }, (error, socket) => {
      if (error !== null) callback(asNotConnected(error), null);
      else this.handOver(socket, callback, answers);
    });
  }

  private connectThrough(
    tunnels: Tunnels,
    options: buildConnector.Options,
    callback: buildConnector.Callback,
    progress: ConnectProgress,
  ): void {
    this.openTunnel(tunnels, options, progress).then(
      (socket) => {
        const isTls = options.protocol === 'https:';
        progress.phase = isTls ? 'tls' : 'response';
        if (isTls) this.secure({ ...options, httpSocket: socket }, callback, progress);
        else this.handOver(socket, callback, progress.answers);
      },
      (error: Error) => callback(asNotConnected(error), null),
    );
  }

  /** Tries one address after the other, as long as the proxy refuses to connect to them. */
  private async openTunnel(tunnels: Tunnels, to: buildConnector.Options, progress: ConnectProgress): Promise<Socket> {
    const deadlineAt = performance.now() + this.options.timeoutMs;
    progress.phase = 'dns';
    let refusal = new ProxyRefusedError();
    for (const hostname of await this.targets(tunnels, to, progress)) {
      try {
        return await tunnels.open(authorityOf({ ...to, hostname }), deadlineAt, progress);
      } catch (error) {
        if (!(error instanceof ProxyRefusedError)) throw error;
        refusal = error;
      }
    }
    throw refusal;
  }

  /** Returns what CONNECT may name for a destination: the addresses that are allowed, or its name when the proxy resolves it. */
  private async targets(
    tunnels: Tunnels,
    to: buildConnector.Options,
    progress: ConnectProgress,
  ): Promise<readonly string[]> {
    const { hostname } = to;
    const isName = isIP(hostname) === 0;
    if (isName && this.options.proxyResolves && !isLocalhost(hostname)) {
      const isProxy = serverName(hostname) === serverName(tunnels.hostname);
      if (isProxy) throw new DestinationBlockedError(PROXY_RULE);
      return [hostname];
    }
    const allowed = isName ? (await this.allowedAddresses(hostname)).map(({ address }) => address) : [hostname];
    progress.phase = 'proxy';
    const ofProxy = await tunnels.addresses();
    const others = allowed.filter((address) => !leadsToProxy({ address, port: portOf(to) }, ofProxy, tunnels.port));
    if (others.length === 0) throw new DestinationBlockedError(PROXY_RULE);
    return others;
  }

  private handOver(socket: Socket, callback: buildConnector.Callback, answers: ContinueAnswers | undefined): void {
    // When undici gets a dead socket, it requests new connections endlessly, so a dead socket is an error here.
    if (socket.destroyed || socket.remoteAddress === undefined) return callback(new ConnectError(closedEarly()), null);
    // The other end of a tunnel is the proxy.
    const verdict = this.tunnels === null ? this.options.policy.classify(socket.remoteAddress) : null;
    if (verdict?.allowed === false) {
      socket.destroy();
      return callback(new DestinationBlockedError(verdict.rule), null);
    }
    if (answers) tap(socket, answers);
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
    const addresses = isLocalhost(hostname) ? LOCALHOST_ADDRESSES : await this.options.resolver.resolve(hostname);
    const verdicts = addresses.map((address) => this.options.policy.classify(address));
    const allowed = addresses.filter((_, index) => verdicts[index]?.allowed);
    if (allowed.length > 0) return withFamilies(allowed);
    const denied = verdicts.find((verdict) => !verdict.allowed);
    throw new DestinationBlockedError(denied?.rule ?? 'no address');
  }
}

/** undici reads a socket with `read` and sends each request with `write`. */
function tap(socket: Socket, answers: ContinueAnswers): void {
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

function follow(socket: Socket, { hostname, protocol }: buildConnector.Options, progress: ConnectProgress): void {
  progress.phase = isIP(hostname) === 0 ? 'dns' : 'connect';
  socket.once('lookup', (error: Error | null) => {
    if (error === null) progress.phase = 'connect';
  });
  socket.once('connect', () => (progress.phase = protocol === 'https:' ? 'tls' : 'response'));
}

/** Many IPv4 addresses leave half of the places to IPv6: the host may have a route for only that. */
function withFamilies(addresses: readonly string[]): LookupAddress[] {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const [ipv4, ipv6] = [4, 6].map((family) => found.filter((one) => one.family === family)) as [
    typeof found,
    typeof found,
  ];
  const first = ipv4.slice(0, Math.max(MAX_DIALLED_ADDRESSES - ipv6.length, MAX_DIALLED_ADDRESSES / 2));
  return [...first, ...ipv6].slice(0, MAX_DIALLED_ADDRESSES);
}

function asNotConnected(error: Error): NotConnectedError {
  return error instanceof NotConnectedError ? error : new ConnectError(error);
}

function closedEarly(): NodeJS.ErrnoException {
  return Object.assign(new Error('closed before its first request'), { code: 'ECONNRESET' });
}
