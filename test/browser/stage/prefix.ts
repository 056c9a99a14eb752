import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy before a service: what comes to `<prefix>/…` goes to `/…`, and the service does not know of it. */
export async function startPrefix(target: string, prefix: string): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((incoming, answer) => {
    const { method, headers, url = '' } = incoming;
    if (!url.startsWith(`${prefix}/`)) return void answer.writeHead(404).end();
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
    url: `http://127.0.0.1:${port}${prefix}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
