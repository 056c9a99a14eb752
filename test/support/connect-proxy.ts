import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { freePort } from './service';

export interface ConnectRequest {
  /** `host:port` as it was sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** Responds to a CONNECT request instead of the proxy. */
export type Script = (client: Socket, request: ConnectRequest) => void;

/** An HTTP proxy that knows CONNECT alone, and can be told to misbehave. */
export interface ConnectProxy {
  readonly port: number;
  readonly url: string;
  readonly requests: readonly ConnectRequest[];
  /** Number of connections that are open. */
  openConnections(): number;
  /** Responds like this from now on; null: forwards. */
  behave(script: Script | null): void;
  /** Closes all connections, so that the next request needs a new tunnel. */
  hangUp(): void;
  /** Closes all connections and refuses new ones. */
  cut(): Promise<void>;
  /** Listens again on the same port. */
  restore(): Promise<void>;
}

export interface ConnectProxyOptions {
  /** 127.0.0.2 by default: receivers on 127.0.0.1 are then other addresses than the proxy's. */
  host?: string;
  tls?: TlsOptions;
  /** Where the connection to a target goes, `host:port`; by default to the target itself. */
  route?: (target: string) => string;
}

/** Proxies of one test file; all are stopped after it. */
export function useConnectProxies(): (options?: ConnectProxyOptions) => Promise<ConnectProxy> {
  const proxies: ConnectProxy[] = [];
  afterAll(() => Promise.all(proxies.map((proxy) => proxy.cut())));
  return async (options = {}) => {
    const proxy = await startConnectProxy(options);
    proxies.push(proxy);
    return proxy;
  };
}

async function startConnectProxy(options: ConnectProxyOptions): Promise<ConnectProxy> {
  const { host = '127.0.0.2', tls, route = (target) => target } = options;
  const requests: ConnectRequest[] = [];
  const sockets = new Set<Socket>();
  let script: Script | null = null;
  const listen = async (port: number) => {
    const server = tls ? createTlsServer(tls) : createServer();
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    server.on('tlsClientError', () => undefined);
    server.on('connect', ({ url = '', headers }, client: Socket) => {
      const request = { target: url, headers };
      requests.push(request);
      client.on('error', () => undefined);
      if (!script) return forward(client, route(url));
      // Reads on, so that it sees the other side close.
      client.resume().once('end', () => client.end());
      script(client, request);
    });
    server.listen(port, host);
    await once(server, 'listening');
    return server;
  };
  let server: Awaited<ReturnType<typeof listen>> | null = await listen(await freePort());
  const { port } = server.address() as AddressInfo;
  const hangUp = () => sockets.forEach((socket) => socket.destroy());
  return {
    port,
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    requests,
    openConnections: () => sockets.size,
    behave: (next) => (script = next),
    hangUp,
    cut: async () => {
      const closing = server;
      server = null;
      closing?.close();
      hangUp();
      if (closing) await once(closing, 'close');
    },
    restore: async () => {
      server ??= await listen(port);
    },
  };
}

function forward(client: Socket, target: string): void {
  const { hostname, port } = new URL(`tcp://${target}`);
  const upstream = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
  let isOpen = false;
  upstream.once('connect', () => {
    isOpen = true;
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    client.pipe(upstream).pipe(client);
  });
  upstream.on('error', () => {
    if (isOpen) client.destroy();
    else client.end('HTTP/1.1 502 Bad Gateway\r\nserver: canary-of-the-proxy\r\n\r\n<h1>canary-of-the-proxy</h1>');
  });
  client.once('close', () => upstream.destroy());
}
