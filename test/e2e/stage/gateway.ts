import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An HTTP proxy in front of the service, which may answer by itself. */
export interface Gateway {
  readonly url: string;
  /** The status with which the gateway answers this request in HTML; null passes the request on. */
  refuse: (path: string, body: string) => number | null;
  stop(): Promise<void>;
}

export async function startGateway(target: string): Promise<Gateway> {
  const gateway = { refuse: (): number | null => null } as unknown as Gateway & { url: string };
  const server = createServer((request, response) => {
    void (async () => {
      const [path, body] = [request.url ?? '/', await text(request)];
      const status = gateway.refuse(path, body);
      if (status !== null) return response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>No</h1>');
      const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
      const answer = await fetch(target + path, {
        method: request.method ?? 'GET',
        headers: { authorization, ...(body && { 'content-type': type }) },
        ...(body && { body }),
      });
      return response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    })().catch(() => response.writeHead(502).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(gateway, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}
