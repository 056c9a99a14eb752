import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

export interface HostileOptions {
  /** Called at accept, before a byte was read. */
  onConnection?: (socket: Socket) => void;
  /** Called with each complete request, headers and body in one text; `nth` counts them on this connection from 1. */
  onRequest?: (socket: Socket, request: string, nth: number) => void;
  /** Makes it a TLS server. */
  tls?: TlsOptions;
  host?: string;
  /** A free one unless given. */
  port?: number;
}

/** A server that speaks bytes, not HTTP, so a test can send a client anything. */
export interface HostileReceiver {
  readonly port: number;
  readonly url: string;
  /** The local address of every accepted TCP connection. */
  readonly connections: readonly string[];
  readonly requests: readonly string[];
  /** How many of the connections are still open. */
  openConnections(): number;
  /** Closes all of them. */
  hangUp(): void;
}

/** Hostile receivers of one test file; all are stopped after it. */
export function useHostileReceivers(): (options: HostileOptions) => Promise<HostileReceiver> {
  const servers: { server: Server; sockets: Set<Socket> }[] = [];
  afterAll(() => {
    for (const { server, sockets } of servers) {
      server.close();
      for (const socket of sockets) socket.destroy();
    }
  });
  return async (options) => {
    const connections: string[] = [];
    const requests: string[] = [];
    const sockets = new Set<Socket>();
    const serve = (socket: Socket) => {
      socket.on('error', () => undefined);
      options.onConnection?.(socket);
      readRequests(socket, (request, nth) => {
        requests.push(request);
        options.onRequest?.(socket, request, nth);
      });
    };
    const server = options.tls ? createTlsServer(options.tls, serve) : createServer(serve);
    server.on('tlsClientError', () => undefined);
    server.on('connection', (socket) => {
      connections.push(socket.localAddress ?? '');
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    servers.push({ server, sockets });
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`;
    const hangUp = () => sockets.forEach((socket) => socket.end());
    return { port, url, connections, requests, openConnections: () => sockets.size, hangUp };
  };
}

function readRequests(socket: Socket, take: (request: string, nth: number) => void): void {
  let pending = '';
  let nth = 0;
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    pending += chunk;
    for (let length = requestLength(pending); length <= pending.length; length = requestLength(pending)) {
      nth += 1;
      take(pending.slice(0, length), nth);
      pending = pending.slice(length);
    }
  });
}

function requestLength(text: string): number {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return Infinity;
  return headEnd + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
}
