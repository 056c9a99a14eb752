import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

interface PrefixProxy {
  /** The origin, without a prefix. */
  origin: string;
  stop(): Promise<void>;
}

/** A proxy before services, each at its prefix: what comes to `<prefix>/…` goes to `/…`, and the service does not know of it. */
export async function startPrefixes(targets: Readonly<Record<string, string>>): Promise<PrefixProxy> {
  const server = createServer((incoming, answer) => {
    const { method, headers, url = '' } = incoming;
    const [prefix, target] = Object.entries(targets).find(([each]) => url.startsWith(`${each}/`)) ?? [];
    if (prefix === undefined || target === undefined) return void answer.writeHead(404).end();
    const outgoing = request(target + url.slice(prefix.length), { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
