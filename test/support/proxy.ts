import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './service';

/** A TCP proxy on 127.0.0.1: the network between two processes, which can be told to misbehave. */
export interface TcpProxy {
  readonly port: number;
  /** Connections that are made from now on go to this port. */
  retarget(port: number): void;
  /** Restores the network. Black-holed connections stay so: a router that has forgotten one never recalls it. */
  pass(): Promise<void>;
  /** Resets every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Swallows every byte both ways, of new connections too, and closes nothing. */
  blackHole(): void;
  /** Every byte arrives this much later. */
  delay(ms: number): void;
  stop(): Promise<void>;
}

type Mode = { kind: 'pass'; delayMs: number } | { kind: 'black hole' };

export async function startProxy(targetPort: number): Promise<TcpProxy> {
  const links = new Set<Link>();
  let target = targetPort;
  let mode: Mode = { kind: 'pass', delayMs: 0 };

  const listen = async (port: number): Promise<Server> => {
    const server = createServer((client) => {
      const link = new Link(client, mode.kind === 'pass' ? connect(target, '127.0.0.1') : null, () => mode);
      links.add(link);
      link.onEnd(() => links.delete(link));
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };

  let server: Server | null = await listen(await freePort());
  const { port } = server.address() as AddressInfo;
  const cut = async () => {
    const closing = server;
    server = null;
    closing?.close();
    for (const link of links) link.reset();
    if (closing?.listening) await once(closing, 'close');
  };
  return {
    port,
    retarget: (newTarget) => (target = newTarget),
    pass: async () => {
      mode = { kind: 'pass', delayMs: 0 };
      for (const link of links) link.heal();
      server ??= await listen(port);
    },
    cut,
    blackHole: () => {
      mode = { kind: 'black hole' };
      for (const link of links) link.forget();
    },
    delay: (delayMs) => (mode = { kind: 'pass', delayMs }),
    stop: cut,
  };
}

/** One connection through the proxy; without an upstream it was made into a black hole. */
class Link {
  private forgotten: boolean;
  private clientGone = false;

  constructor(
    private readonly client: Socket,
    private readonly upstream: Socket | null,
    private readonly mode: () => Mode,
  ) {
    this.forgotten = upstream === null;
    this.forward(client, upstream);
    if (upstream) this.forward(upstream, client);
    client.once('close', () => {
      this.clientGone = true;
      if (!this.forgotten) upstream?.destroy();
    });
    upstream?.once('close', () => {
      if (!this.forgotten) client.destroy();
    });
  }

  onEnd(callback: () => void): void {
    (this.upstream ?? this.client).once('close', callback);
  }

  forget(): void {
    this.forgotten = true;
  }

  /** Passes on the end of the client, which was swallowed with the rest. */
  heal(): void {
    if (this.clientGone) this.upstream?.destroy();
    else if (this.forgotten) this.client.once('close', () => this.upstream?.destroy());
  }

  reset(): void {
    for (const socket of [this.client, this.upstream]) {
      // Node.js never closes a socket that is reset while it is ending.
      if (socket?.writableEnded) socket.destroy();
      else socket?.resetAndDestroy();
    }
  }

  private forward(from: Socket, to: Socket | null): void {
    const queue: { chunk: Buffer; dueAt: number }[] = [];
    let pumping = false;
    const pump = async () => {
      pumping = true;
      for (let next = queue[0]; next; next = queue[0]) {
        if (next.dueAt > Date.now()) await pause(next.dueAt - Date.now());
        queue.shift();
        if (!this.forgotten) to?.write(next.chunk);
      }
      pumping = false;
    };
    from.setNoDelay(true);
    from.on('error', () => undefined);
    from.on('data', (chunk) => {
      const mode = this.mode();
      if (this.forgotten || mode.kind === 'black hole') return;
      if (mode.delayMs === 0 && !pumping) return void to?.write(chunk);
      queue.push({ chunk, dueAt: Date.now() + mode.delayMs });
      if (!pumping) void pump();
    });
  }
}
