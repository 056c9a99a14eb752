import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { AddressPolicy } from '../../../../src/infrastructure/destinations/address';
import { HttpClient } from '../../../../src/infrastructure/destinations/http.client';
import { type HostileOptions, useHostileReceivers } from '../../../support/hostile-receiver';
import { waitFor } from '../../../support/wait-for';

const startReceiver = useHostileReceivers();

const clientWith = (timeoutMs: number) =>
  new HttpClient({ policy: new AddressPolicy(['127.0.0.0/8']), dnsServers: [], timeoutMs, requireHttps: false });
const client = clientWith(10_000);
/** Long enough to connect, even on a busy machine. */
const IMPATIENT_MS = 1000;
const impatientClient = clientWith(IMPATIENT_MS);
afterAll(() => Promise.all([client.onApplicationShutdown(), impatientClient.onApplicationShutdown()]));

const REQUEST = { headers: { 'content-type': 'application/json', 'x-test': 'ü'.normalize('NFC') }, body: '{"a":"ü"}' };

async function postTo(options: HostileOptions, by = client) {
  for (;;) {
    const receiver = await startReceiver(options);
    const result = await by.post({ ...REQUEST, url: receiver.url });
    // On a busy machine the time may be up before the receiver has the request, which says nothing about it.
    const isTooEarly = by === impatientClient && receiver.requests.length === 0;
    if (!isTooEarly) return { receiver, result };
  }
}

const resultOf = async (options: HostileOptions) => (await postTo(options)).result;
const answering = (text: string | Buffer): HostileOptions => ({ onRequest: (socket) => socket.write(text) });
const answeringAndClosing = (text: string): HostileOptions => ({ onRequest: (socket) => socket.end(text) });

/** Writes the bytes one by one until the other side closes. */
function drip(socket: Socket, text: string, everyMs: number): void {
  let at = 0;
  const timer = setInterval(() => socket.write(text.charAt(at++ % text.length)), everyMs);
  socket.once('close', () => clearInterval(timer));
}

/** Writes as fast as the other side reads. */
function pour(socket: Socket, text: string): void {
  const flood = text.repeat(16_384 / text.length);
  const write = () => {
    while (socket.writable && socket.write(flood));
  };
  socket.on('drain', write);
  write();
}

describe('a process that was itself blocked', () => {
  it('reports no outcome, because the receiver did not cause the timeout', async () => {
    const receiver = await startReceiver({});
    const startedAt = performance.now();
    const held = impatientClient.post({ ...REQUEST, url: receiver.url });
    await waitFor(() => receiver.requests.length > 0, { what: 'the request', everyMs: 5 });
    while (performance.now() - startedAt < IMPATIENT_MS + 2200);
    await expect(held).rejects.toThrow(/held up for/);
  });
});

describe('a receiver that responds', () => {
  it('gets the request as it was prepared, and its response is returned', async () => {
    const { receiver, result } = await postTo(
      answering('HTTP/1.1 201 Created\r\nX-A: 1\r\nx-a: 2\r\nServer: raw\r\ncontent-length: 2\r\n\r\nok'),
    );
    expect(result).toEqual({
      kind: 'response',
      status: 201,
      headers: { 'x-a': ['1', '2'], server: 'raw', 'content-length': '2' },
      body: 'ok',
      bodyTruncated: false,
      durationMs: expect.any(Number),
    });
    const [request = ''] = receiver.requests;
    expect(request.split('\r\n')[0]).toBe('POST /hook HTTP/1.1');
    expect(request).toContain(`\r\nhost: 127.0.0.1:${receiver.port}\r\n`);
    expect(request).toContain('\r\ncontent-length: 10\r\n');
    expect(request.toLowerCase()).not.toMatch(/accept-encoding|expect:|transfer-encoding/);
    expect(Buffer.from(request, 'latin1').toString()).toMatch(/\r\n\r\n\{"a":"ü"\}$/);
  });

  it.each([301, 302, 303, 307, 308])('is not followed when it redirects with %d', async (status) => {
    const elsewhere = await startReceiver({});
    const locations = [`http://127.0.0.1:${elsewhere.port}/`, 'http://169.254.169.254/latest/'];
    for (const location of locations) {
      const head = `HTTP/1.1 ${status} Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`;
      expect(await resultOf(answering(head))).toMatchObject({ kind: 'response', status, headers: { location } });
    }
    expect(elsewhere.connections).toEqual([]);
  });

  it.each([200, 204, 299, 410, 503, 600, 999])('may use the status %d', async (status) => {
    const result = await resultOf(answering(`HTTP/1.1 ${status} X\r\ncontent-length: 0\r\n\r\n`));
    expect(result).toMatchObject({ kind: 'response', status, body: '' });
  });

  it.each(['100 Continue', '102 Processing', '103 Early Hints'])('may send %s first', async (status) => {
    const hints = `HTTP/1.1 ${status}\r\nlink: <a>\r\n\r\n`.repeat(3);
    const result = await resultOf(answering(`${hints}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`));
    expect(result).toMatchObject({ kind: 'response', status: 200, headers: { 'content-length': '0' } });
  });

  it('may use header names that are special in JavaScript', async () => {
    const result = await resultOf(
      answering('HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\nconstructor: c\r\ncontent-length: 0\r\n\r\n'),
    );
    if (result.kind !== 'response') throw new Error(result.code);
    expect(Object.entries(result.headers)).toEqual([
      ['__proto__', 'a'],
      ['constructor', ['b', 'c']],
      ['content-length', '0'],
    ]);
    expect(Object.getPrototypeOf(result.headers)).toBe(Object.prototype);
  });
});

describe('a slow receiver', () => {
  it.each<[string, HostileOptions]>([
    ['never responds', {}],
    [
      'sends one byte of a header at a time',
      { onRequest: (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-a: bbbbbbbbbbbbbb', 20) },
    ],
    [
      'sends 103 forever',
      {
        onRequest: (socket) => {
          const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 10);
          socket.once('close', () => clearInterval(timer));
        },
      },
    ],
    ['sends 100 as fast as it can', { onRequest: (socket) => pour(socket, 'HTTP/1.1 100 Continue\r\n\r\n') }],
    [
      'sends 103 as fast as it can',
      { onRequest: (socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n') },
    ],
    ['sends empty lines as fast as it can', { onRequest: (socket) => pour(socket, '\r\n') }],
  ])('%s: times out, and its only connection is closed', async (_title, options) => {
    const { receiver, result } = await postTo(options, impatientClient);
    expect(result).toEqual({ kind: 'failure', code: 'timeout', phase: 'response', durationMs: expect.any(Number) });
    expect(result.durationMs).toBeGreaterThanOrEqual(IMPATIENT_MS - 10);
    await waitFor(() => receiver.openConnections() === 0, { what: 'the connection to close' });
    expect(receiver.connections).toHaveLength(1);
  });
});

describe('a receiver that hangs up', () => {
  it('fails with connection_refused when nothing listens', async () => {
    const result = await client.post({ ...REQUEST, url: 'http://127.0.0.1:1/' });
    expect(result).toMatchObject({ kind: 'failure', code: 'connection_refused' });
  });

  it.each<[string, HostileOptions]>([
    ['resets at accept', { onConnection: (socket) => socket.resetAndDestroy() }],
    ['closes at accept', { onConnection: (socket) => socket.destroy() }],
    ['closes after the request', { onRequest: (socket) => socket.end() }],
    ['resets after the request', { onRequest: (socket) => socket.resetAndDestroy() }],
    ['closes within the status line', answeringAndClosing('HTTP/1.1 20')],
    ['closes within the headers', answeringAndClosing('HTTP/1.1 200 OK\r\nx-a: b')],
    ['closes after 100', answeringAndClosing('HTTP/1.1 100 Continue\r\n\r\n')],
    ['closes after 103', answeringAndClosing('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ])('%s: fails with connection_reset after one connection', async (_title, options) => {
    const { receiver, result } = await postTo(options);
    expect(result).toMatchObject({ kind: 'failure', code: 'connection_reset' });
    expect(receiver.connections).toHaveLength(1);
  });
});

describe('a receiver that does not speak HTTP/1.1', () => {
  it.each<[string, HostileOptions]>([
    ['an SSH banner', { onConnection: (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n') }],
    ['an SSH banner after the request', answering('SSH-2.0-OpenSSH_9.2\r\n')],
    ['HTTP/0.9', answeringAndClosing('<html>hello</html>')],
    ['status 000', answering('HTTP/1.1 000 Nothing\r\ncontent-length: 0\r\n\r\n')],
    ['status 099', answering('HTTP/1.1 099 Less\r\ncontent-length: 0\r\n\r\n')],
    ['status 20', answering('HTTP/1.1 20 Short\r\ncontent-length: 0\r\n\r\n')],
    ['status 2000', answering('HTTP/1.1 2000 Long\r\ncontent-length: 0\r\n\r\n')],
    [
      '101 with an upgrade',
      answering('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    ],
    ['101 without an upgrade', answering('HTTP/1.1 101 Switching Protocols\r\n\r\n')],
    ['HTTP/2', answering(Buffer.from('00000604000000000000040000ffff', 'hex'))],
    ['another HTTP version', answering('HTTP/9.9 200 OK\r\ncontent-length: 0\r\n\r\n')],
  ])('sends %s: fails with invalid_response after one connection', async (_title, options) => {
    const { receiver, result } = await postTo(options);
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_response' });
    expect(receiver.connections).toHaveLength(1);
  });
});

describe('a response that undici cannot read', () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  it.each<[string, HostileOptions]>([
    ['a 20 KB header', answering(`${head}x-a: ${'a'.repeat(20_000)}\r\n\r\n`)],
    ['20 KB of headers', answering(`${head}${`x-a: ${'a'.repeat(990)}\r\n`.repeat(20)}\r\n`)],
    ['5,000 headers', answering(`${head}${'a: b\r\n'.repeat(5000)}\r\n`)],
    ['5,000 empty headers', answering(`${head}${'a:\r\n'.repeat(5000)}\r\n`)],
    ['both length headers', answering(`${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`)],
    [
      'both length headers, reversed',
      answering(`${head}transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n`),
    ],
    [
      'both length headers, not chunked',
      answering(`${head}transfer-encoding: identity\r\ncontent-length: 5\r\n\r\nhello`),
    ],
    ['two lengths', answering(`${head}content-length: 5\r\ncontent-length: 6\r\n\r\nhello!`)],
    ['a negative length', answering(`${head}content-length: -1\r\n\r\n`)],
    ['a NUL in a header', answering(`${head}x-a: a\0b\r\ncontent-length: 0\r\n\r\n`)],
    ['a folded header', answering(`${head}x-a: a\r\n b\r\ncontent-length: 2\r\n\r\nok`)],
    ['the same length twice', answering(`${head}content-length: 2\r\ncontent-length: 2\r\n\r\nok`)],
    ['LF alone', answering('HTTP/1.1 200 OK\ncontent-length: 2\n\nok')],
    ['a space before a colon', answering(`${head}x-a : a\r\ncontent-length: 2\r\n\r\nok`)],
    ['no status text, after hints', answering(`HTTP/1.1 103 Hints\r\nlink: </a>\r\n\r\nHTTP/1.0 200\r\nx y\r\n\r\n`)],
  ])('is a response by its status line: %s', async (_title, options) => {
    const { receiver, result } = await postTo(options);
    expect(result).toMatchObject({ kind: 'response', status: 200, headers: {}, body: '', bodyTruncated: true });
    expect(receiver.connections).toHaveLength(1);
  });

  it.each([204, 301, 429, 500, 999])('has its own status: %i', async (status) => {
    const { result } = await postTo(answering(`HTTP/1.1 ${status} X\r\nx-a : b\r\n\r\n`));
    expect(result).toMatchObject({ kind: 'response', status, headers: {}, bodyTruncated: true });
  });

  it('has header values without white space around them', async () => {
    const { result } = await postTo(
      answering(`${head}retry-after: 20 \t\r\nx-a: b \r\nx-a:\tc\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(result).toMatchObject({ headers: { 'retry-after': '20', 'x-a': ['b', 'c'] } });
  });
});

describe('the body of a 2xx response', () => {
  const ok = (headers: string, body = '') => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${body}`;
  const chunked = 'transfer-encoding: chunked';

  it.each<[string, HostileOptions, string]>([
    [
      'drips',
      {
        onRequest: (socket) => {
          socket.write(ok('content-length: 100'));
          drip(socket, 'x', 100);
        },
      },
      'x',
    ],
    ['stalls', answering(ok('content-length: 100', 'half')), 'half'],
    ['claims a gigabyte', answering(ok('content-length: 1073741824', 'begin')), 'begin'],
    ['has no length', answering(ok('x-a: b', 'open')), 'open'],
    [
      'hides in chunk extensions',
      {
        onRequest: (socket) => {
          socket.write(ok(chunked, '4\r\nhalf\r\n1;'));
          pour(socket, 'a');
        },
      },
      'half',
    ],
    ['stalls within a chunk size', answering(ok(chunked, '4\r\nhalf\r\nff')), 'half'],
  ])('that %s is read for a second and counts as a success', async (_title, options, beginning) => {
    const { receiver, result } = await postTo(options);
    expect(result).toMatchObject({ kind: 'response', status: 200, bodyTruncated: true });
    if (result.kind === 'response') expect(result.body.startsWith(beginning)).toBe(true);
    // eslint-disable-next-line no-restricted-syntax -- less than the deadline
    expect(result.durationMs).toBeLessThan(8_000);
    await waitFor(() => receiver.openConnections() === 0, { what: 'the connection to close' });
    expect(receiver.connections).toHaveLength(1);
  });

  it.each<[string, HostileOptions, string]>([
    ['is shorter than its content-length', answeringAndClosing(ok('content-length: 100', 'short')), 'short'],
    [
      'is reset halfway',
      {
        onRequest: (socket) =>
          socket.write(ok('content-length: 9', 'short'), () => setImmediate(() => socket.resetAndDestroy())),
      },
      'short',
    ],
    ['has an invalid chunk', answering(ok(chunked, '5\r\nshort\r\nzz\r\n')), 'short'],
  ])('that %s counts as a success with a truncated body', async (_title, options, body) => {
    expect(await resultOf(options)).toMatchObject({ kind: 'response', status: 200, body, bodyTruncated: true });
  });

  it('that exceeds its content-length is cut there, and the rest is never read as a response', async () => {
    const receiver = await startReceiver(
      answering(ok('content-length: 5', 'helloHTTP/1.1 500 Bad\r\ncontent-length: 0\r\n\r\n')),
    );
    for (let round = 0; round < 3; round += 1) {
      const result = await client.post({ ...REQUEST, url: receiver.url });
      expect(result).toMatchObject({ kind: 'response', status: 200, body: 'hello', bodyTruncated: false });
    }
  });

  it('that ends with the connection is complete', async () => {
    const result = await resultOf(answeringAndClosing(ok('connection: close', 'whole')));
    expect(result).toMatchObject({ kind: 'response', body: 'whole', bodyTruncated: false });
  });

  it('is stored up to 4 KiB, cut between characters', async () => {
    const body = `${'a'.repeat(4095)}é${'b'.repeat(1000)}`;
    const result = await resultOf(answering(Buffer.from(ok(`content-length: ${Buffer.byteLength(body)}`, body))));
    expect(result).toMatchObject({ kind: 'response', body: 'a'.repeat(4095), bodyTruncated: true });
  });

  it('of 4 KiB is stored completely', async () => {
    const result = await resultOf(answering(ok('content-length: 4096', 'a'.repeat(4096))));
    expect(result).toMatchObject({ kind: 'response', body: 'a'.repeat(4096), bodyTruncated: false });
  });

  it('that never ends is abandoned after 64 KiB, long before its deadline', async () => {
    const { receiver, result } = await postTo({
      onRequest: (socket) => {
        socket.write(ok('x-a: b'));
        pour(socket, 'f');
      },
    });
    expect(result).toMatchObject({ kind: 'response', body: 'f'.repeat(4096), bodyTruncated: true });
    await waitFor(() => receiver.openConnections() === 0, { what: 'the connection to close' });
    expect(receiver.connections).toHaveLength(1);
  });

  it('is never decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const head = ok(`content-encoding: gzip\r\ncontent-length: ${bomb.length}`);
    const result = await resultOf(answering(Buffer.concat([Buffer.from(head), bomb])));
    expect(result).toMatchObject({ kind: 'response', status: 200, bodyTruncated: true });
    if (result.kind === 'response') expect(result.body.startsWith('\u001f\ufffd')).toBe(true);
  });

  it('may contain any bytes', async () => {
    const bytes = Buffer.concat([Buffer.from('\0\u001b[31m<script>ü'), Buffer.from([0xff, 0xfe])]);
    const result = await resultOf(
      answering(Buffer.concat([Buffer.from(ok(`content-length: ${bytes.length}`)), bytes])),
    );
    expect(result).toMatchObject({ body: '\0\u001b[31m<script>ü\ufffd\ufffd', bodyTruncated: false });
  });
});

it('a hundred concurrent endless bodies use less than 50 MB, even the second time', async () => {
  const receiver = await startReceiver({
    onRequest: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n');
      pour(socket, 'f');
    },
  });
  let expectedConnections = 0;
  const postHundred = async () => {
    const results = await Promise.all(
      Array.from({ length: 100 }, () => client.post({ ...REQUEST, url: receiver.url })),
    );
    for (const result of results) expect(result).toMatchObject({ kind: 'response', status: 200, bodyTruncated: true });
    await waitFor(() => receiver.openConnections() === 0, { what: 'the connections to close' });
    expect(receiver.connections).toHaveLength((expectedConnections += 100));
    return results;
  };
  const usedBytes = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  await postHundred();
  const before = usedBytes();
  const kept = await postHundred();
  expect(usedBytes() - before).toBeLessThan(50 * 1024 * 1024);
  expect(kept).toHaveLength(100);
});
