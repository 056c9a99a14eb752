import * as tls from 'node:tls';
import { lookup } from 'node:dns/promises';
import { type ClientRequest, request as requestHttp, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { Logger } from '@nestjs/common';
import type { buildConnector } from 'undici';
import type { EgressProxy } from './egress-proxy';
import { ConnectError, ProxyFailedError, ProxyRefusedError } from './failure';
import type { ConnectProgress } from './connections.client';
import { serverName } from './url';

/** Returns those of `NODE_EXTRA_CA_CERTS`, too. Node.js 20 does not have it, nor another way to keep them. */
const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => string[] };

/** Returns what trusts these PEM certificates besides Node's own. Make it once: it parses more than a hundred certificates. */
export const trusting = (certificates: readonly string[]): tls.SecureContext =>
  tls.createSecureContext({ ca: [...(getCACertificates?.('default') ?? tls.rootCertificates), ...certificates] });

/** How long the addresses of the proxy are used before its name is resolved again. */
const RESOLVE_EVERY_MS = 10_000;

const MAX_HEADER_BYTES = 16 * 1024;

/** Returns `host:port` of a destination for CONNECT, with brackets around an IPv6 address. */
export function authorityOf({ hostname, port, protocol }: buildConnector.Options): string {
  return `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${portOf({ port, protocol })}`;
}

/** Returns the port of a destination: undici omits the default one. */
export function portOf({ port, protocol }: Pick<buildConnector.Options, 'port' | 'protocol'>): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}

/** Tunnels through the egress proxy (CONNECT, RFC 9110, section 9.3.6). Each has a connection of its own to the proxy. */
export class Tunnels {
  private readonly logger = new Logger(Tunnels.name);
  private readonly options: RequestOptions;
  /** The tunnels that wait for a response to CONNECT. */
  private readonly waiting = new Set<ConnectProgress>();
  private resolved: { at: number; addresses: Promise<string[]> } | null = null;
  private isFailing = false;

  constructor(
    private readonly proxy: EgressProxy,
    secureContext?: SecureContext,
  ) {
    const { hostname, port, authorization } = proxy;
    this.options = {
      method: 'CONNECT',
      host: hostname,
      port,
      // Without `connection`, Node.js would ask the proxy to close it.
      headers: { connection: 'keep-alive', ...(authorization !== null && { 'proxy-authorization': authorization }) },
      // The name of the proxy, not that in the host header; an empty one for an address.
      ...(proxy.isTls && { secureContext, servername: serverName(hostname) ?? '', rejectUnauthorized: true }),
      agent: false,
      maxHeaderSize: MAX_HEADER_BYTES,
    };
  }

  get port(): number {
    return this.proxy.port;
  }

  get hostname(): string {
    return this.proxy.hostname;
  }

  /** Returns the current addresses of the proxy, by the system's resolver with /etc/hosts and search domains. */
  async addresses(): Promise<string[]> {
    const now = performance.now();
    if (this.resolved === null || now - this.resolved.at > RESOLVE_EVERY_MS)
      this.resolved = { at: now, addresses: addressesOf(this.proxy.hostname) };
    try {
      return await this.resolved.addresses;
    } catch (error) {
      this.resolved = null;
      throw this.failed(error as Error);
    }
  }

  /**
   * Opens a tunnel to `authority` until `deadlineAt`, a time of `performance.now()`. A deadline that passes while the proxy
   * responds to others is that of the destination.
   * @throws ProxyFailedError, ProxyRefusedError or ConnectError
   */
  async open(authority: string, deadlineAt: number, progress: ConnectProgress): Promise<Socket> {
    // Not when it has refused to connect to another address: then it works.
    if (progress.phase === 'dns') progress.phase = 'proxy';
    const request = await this.requestTo(authority);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        request.destroy(progress.phase === 'proxy' ? timedOut() : new ConnectError(timedOut()));
      }, deadlineAt - performance.now());
      const settle = (): void => {
        clearTimeout(timer);
        this.waiting.delete(progress);
      };
      request.once('socket', (socket) =>
        socket.once(this.proxy.isTls ? 'secureConnect' : 'connect', () => this.waiting.add(progress)),
      );
      request.once('error', (error) => {
        settle();
        reject(error instanceof ConnectError ? error : this.failed(error));
      });
      request.once('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
        const error = this.errorOf(statusCode);
        settle();
        socket.on('error', () => undefined);
        if (error === null) return resolve(withHead(socket, head));
        socket.destroy();
        reject(error);
      });
      request.end();
    });
  }

  private async requestTo(authority: string): Promise<ClientRequest> {
    const { options, proxy } = this;
    const all = await this.addresses();
    return (proxy.isTls ? requestHttps : requestHttp)({
      ...options,
      path: authority,
      headers: { ...options.headers, host: authority },
      lookup: (_hostname, { all: wantsAll }, callback) => {
        const found = all.map((address) => ({ address, family: isIP(address) }));
        if (wantsAll) callback(null, found);
        else callback(null, found[0]!.address, found[0]!.family);
      },
    });
  }

  private errorOf(status: number): Error | null {
    if (status === 407) return this.failed(new Error('it requires other credentials'));
    if (status < 200) return this.failed(new Error('no valid response'));
    if (this.isFailing) this.logger.log('The egress proxy works again.');
    this.isFailing = false;
    // The proxy works, so tunnels that it does not answer hang at their destinations.
    for (const progress of this.waiting) progress.phase = 'connect';
    this.waiting.clear();
    return status < 300 ? null : new ProxyRefusedError();
  }

  private failed(cause: Error): ProxyFailedError {
    // Node.js puts addresses, and bytes that it received, into messages.
    const { code = cause.message } = cause as NodeJS.ErrnoException;
    if (!this.isFailing) this.logger.warn(`The egress proxy failed; requests through it will be retried: ${code}`);
    this.isFailing = true;
    return new ProxyFailedError(cause);
  }
}

async function addressesOf(hostname: string): Promise<string[]> {
  if (isIP(hostname) !== 0) return [hostname];
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

function withHead(socket: Socket, head: Buffer): Socket {
  if (head.length > 0) socket.unshift(head);
  return socket;
}

function timedOut(): NodeJS.ErrnoException {
  return Object.assign(new Error('no response in time'), { code: 'ETIMEDOUT' });
}
