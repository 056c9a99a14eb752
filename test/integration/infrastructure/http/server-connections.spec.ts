import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { parseConfig } from '../../../../src/infrastructure/config/settings';
import { type ConnectionLimits, createAdapter } from '../../../../src/infrastructure/http/http-server.setup';
import { waitFor } from '../../../support/wait-for';

const MEGABYTE = 1_048_576;
const HEAD = 'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
const PATIENT: ConnectionLimits = {
  requestArrivesWithinMs: 20_000,
  idleMs: 20_000,
  silentMs: 20_000,
  checkEveryMs: 50,
  drainBytes: 16 * MEGABYTE,
  drainMs: 5000,
};

describe('The server', () => {
  const servers: FastifyInstance[] = [];
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  /** Starts the server below Nest, with these limits and a route that echoes the body. */
  async function listen(limits: Partial<ConnectionLimits>): Promise<number> {
    const adapter = createAdapter(parseConfig({ LOG_LEVEL: 'silent' }), { ...PATIENT, ...limits });
    const server = adapter.getInstance<FastifyInstance>();
    server.post('/echo', (request, reply) => reply.send(request.body));
    await server.listen({ port: 0, host: '127.0.0.1' });
    servers.push(server);
    return (server.server.address() as AddressInfo).port;
  }

  /** Opens a connection, and records what it receives and whether it is closed. */
  function dial(port: number, text: string) {
    const seen = { text: '', closed: false, error: '' };
    const socket = connect(port, '127.0.0.1');
    if (text) socket.write(text);
    sockets.push(socket);
    socket.setEncoding('utf8').on('data', (chunk: string) => (seen.text += chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => (seen.error = error.code ?? 'error'));
    socket.on('close', () => (seen.closed = true));
    return { socket, seen };
  }
  const closed = (seen: { closed: boolean }) => waitFor(() => seen.closed, { what: 'the end of the connection' });

  it.each([
    ['incomplete headers', 'POST /echo HTTP/1.1\r\nhost: x\r\n'],
    ['an incomplete body', `${HEAD}content-length: 10\r\n\r\n{`],
    ['incomplete chunks', `${HEAD}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`],
  ])('returns 408 for %s, and closes the connection', async (_, text) => {
    const { seen } = dial(await listen({ requestArrivesWithinMs: 200 }), text);
    await closed(seen);
    expect(seen.text).toMatch(/^HTTP\/1\.1 408 [^]+"code":"request_timeout"/);
    expect(seen.text).toContain('{"success":false,"error":"The request took too long to arrive.",');
  });

  it('closes connections that send nothing at all', async () => {
    const { seen } = dial(await listen({ silentMs: 200 }), '');
    await closed(seen);
  });

  it('closes connections that are idle after a response', async () => {
    const { seen } = dial(await listen({ idleMs: 200 }), `${HEAD}content-length: 2\r\n\r\n{}`);
    await closed(seen);
    expect(seen.text).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['a content-length', { 'content-length': String(8 * MEGABYTE) }],
    ['chunks', { 'transfer-encoding': 'chunked' }],
  ])('returns 413 to a client that first writes all of its 8 MB with %s', async (_, headers) => {
    const port = await listen({});
    const chunked = 'transfer-encoding' in headers;
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const { socket, seen } = dial(port, `${HEAD}${head.join('')}\r\n`);
    const part = 'x'.repeat(MEGABYTE);
    for (let i = 0; i < 8; i++) {
      const flushed = socket.write(chunked ? `${MEGABYTE.toString(16)}\r\n${part}\r\n` : part);
      if (!flushed) await once(socket, 'drain');
    }
    if (chunked) socket.write('0\r\n\r\n');
    await waitFor(() => seen.text.includes('too large'), { what: 'the 413' });
    expect(seen).toMatchObject({ text: expect.stringMatching(/^HTTP\/1\.1 413 /), error: '' });
  });

  it.each([1, 4, 12])('returns 413 to a fetch with a body of %i MB', async (megabytes) => {
    const url = `http://127.0.0.1:${await listen({})}/echo`;
    for (let i = 0; i < 5; i++) {
      const body = 'x'.repeat(megabytes * MEGABYTE);
      const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      await answer.arrayBuffer();
      expect(answer.status).toBe(413);
    }
  });

  it('reads no more of a rejected body than its limit, and then closes the connection', async () => {
    const port = await listen({ drainBytes: MEGABYTE });
    const { socket, seen } = dial(port, `${HEAD}content-length: ${1000 * MEGABYTE}\r\n\r\n`);
    const part = Buffer.alloc(MEGABYTE);
    const write = (error?: Error | null): unknown => error ?? socket.write(part, write);
    write();
    await closed(seen);
    expect(socket.bytesWritten).toBeLessThan(100 * MEGABYTE);
  });

  it('waits for a rejected body no longer than its limit', async () => {
    const { seen } = dial(await listen({ drainMs: 200 }), `${HEAD}content-length: ${8 * MEGABYTE}\r\n\r\nx`);
    await closed(seen);
    expect(seen.text).toMatch(/^HTTP\/1\.1 413 /);
    expect(seen.text).toMatch(/connection: close/i);
  });
});
