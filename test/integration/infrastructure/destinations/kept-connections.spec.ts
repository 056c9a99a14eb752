import type { Socket } from 'node:net';
import { AddressPolicy } from '../../../../src/infrastructure/destinations/address';
import { HttpClient } from '../../../../src/infrastructure/destinations/http.client';
import { type HostileReceiver, useHostileReceivers } from '../../../support/hostile-receiver';
import { waitFor } from '../../../support/wait-for';

const startReceiver = useHostileReceivers();
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

let client: HttpClient;
beforeEach(() => {
  const policy = new AddressPolicy(['127.0.0.0/8']);
  client = new HttpClient({ policy, dnsServers: [], timeoutMs: 60_000, requireHttps: false });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await client.onApplicationShutdown();
});

const post = ({ url }: HostileReceiver, timeoutMs?: number) => client.post({ url, headers: {}, body: '{}' }, timeoutMs);

async function postWell(receiver: HostileReceiver): Promise<void> {
  expect(await post(receiver)).toMatchObject({ kind: 'response', status: 200 });
}

describe('a connection', () => {
  it('is reused by the next request', async () => {
    const receiver = await startReceiver({ onRequest: (socket) => socket.write(OK) });
    for (let round = 0; round < 5; round += 1) await postWell(receiver);
    await Promise.all([postWell(receiver), postWell(receiver), postWell(receiver)]);
    await Promise.all([postWell(receiver), postWell(receiver), postWell(receiver)]);
    expect(receiver.connections).toHaveLength(3);
  });

  it('carries one request at a time', async () => {
    const waiting: Socket[] = [];
    const receiver = await startReceiver({ onRequest: (socket) => waiting.push(socket) });
    const results = Promise.all(Array.from({ length: 20 }, () => post(receiver)));
    await waitFor(() => waiting.length === 20, { what: 'twenty requests' });
    expect(receiver.connections).toHaveLength(20);
    waiting.forEach((socket) => socket.write(OK));
    for (const result of await results) expect(result).toMatchObject({ status: 200 });
  });

  it('is closed after the response when the receiver requests it', async () => {
    const closing = 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';
    const receiver = await startReceiver({ onRequest: (socket) => socket.write(closing) });
    await postWell(receiver);
    await postWell(receiver);
    expect(receiver.connections).toHaveLength(2);
    await waitFor(() => receiver.openConnections() === 0, { what: 'both connections to close' });
  });

  it('is not reused after a minute', async () => {
    const receiver = await startReceiver({ onRequest: (socket) => socket.write(OK) });
    await postWell(receiver);
    const now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => now + 59_000);
    await postWell(receiver);
    expect(receiver.connections).toHaveLength(1);
    jest.spyOn(performance, 'now').mockImplementation(() => now + 61_000);
    await postWell(receiver);
    expect(receiver.connections).toHaveLength(2);
    await waitFor(() => receiver.openConnections() === 1, { what: 'the old connection to close' });
  });

  it('is closed when a response body was not read completely', async () => {
    const long = `HTTP/1.1 200 OK\r\ncontent-length: 200000\r\n\r\n${'a'.repeat(100_000)}`;
    const receiver = await startReceiver({ onRequest: (socket) => socket.write(long) });
    expect(await post(receiver)).toMatchObject({ status: 200, bodyTruncated: true });
    await waitFor(() => receiver.openConnections() === 0, { what: 'the connection to close' });
  });

  it.each<[string, (socket: Socket) => unknown]>([
    ['closes', (socket) => socket.end()],
    ['resets', (socket) => socket.resetAndDestroy()],
    ['writes garbage to', (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n')],
    ['sends a response on', (socket) => socket.write('HTTP/1.1 500 Unasked\r\ncontent-length: 0\r\n\r\n')],
  ])('that the receiver %s while it is idle is never reused', async (_title, spoil) => {
    const sockets: Socket[] = [];
    const receiver = await startReceiver({
      onConnection: (socket) => sockets.push(socket),
      onRequest: (socket) => socket.write(OK),
    });
    await postWell(receiver);
    sockets.forEach(spoil);
    await waitFor(() => receiver.openConnections() === 0, { what: 'the connection to close' });
    await postWell(receiver);
    expect(receiver.requests).toHaveLength(2);
  });

  it.each<[string, (socket: Socket) => unknown]>([
    ['closes', (socket) => socket.destroy()],
    ['resets', (socket) => socket.resetAndDestroy()],
  ])('that the receiver %s just as it is picked loses no request', async (_title, hangUp) => {
    const sockets: Socket[] = [];
    const receiver = await startReceiver({
      onConnection: (socket) => sockets.push(socket),
      onRequest: (socket) => socket.write(OK),
    });
    for (let round = 0; round < 20; round += 1) {
      await postWell(receiver);
      sockets.forEach(hangUp);
      await postWell(receiver);
    }
  });
});

describe('a reused connection', () => {
  it.each<[string, (socket: Socket) => unknown]>([
    ['closed', (socket) => socket.end()],
    ['reset', (socket) => socket.resetAndDestroy()],
  ])('that is %s before a response costs one repeat on a new connection', async (_title, hangUp) => {
    const receiver = await startReceiver({
      onRequest: (socket, _request, nth) => (nth === 1 ? socket.write(OK) : hangUp(socket)),
    });
    await postWell(receiver);
    expect(await post(receiver)).toMatchObject({ kind: 'response', status: 200 });
    expect(receiver.connections).toHaveLength(2);
    expect(receiver.requests).toHaveLength(3);
  });

  it('costs no second repeat', async () => {
    let requests = 0;
    const receiver = await startReceiver({
      onRequest: (socket) => ((requests += 1) === 1 ? socket.write(OK) : socket.resetAndDestroy()),
    });
    await postWell(receiver);
    expect(await post(receiver)).toMatchObject({ kind: 'failure', code: 'connection_reset' });
    expect(receiver.requests).toHaveLength(3);
  });

  it.each([
    ['a byte of a response', 'H'],
    ['an informational response', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ])('that is closed after %s costs no repeat', async (_title, text) => {
    const receiver = await startReceiver({
      onRequest: (socket, _request, nth) => (nth === 1 ? socket.write(OK) : socket.end(text)),
    });
    await postWell(receiver);
    expect(await post(receiver)).toMatchObject({ kind: 'failure', code: 'connection_reset' });
    expect(receiver.requests).toHaveLength(2);
  });

  it('that never responds again costs no repeat', async () => {
    const receiver = await startReceiver({
      onRequest: (socket, _request, nth) => nth === 1 && socket.write(OK),
    });
    await postWell(receiver);
    expect(await post(receiver, 1500)).toMatchObject({ kind: 'failure', code: 'timeout' });
    expect(receiver.requests).toHaveLength(2);
  });

  it('repeats a request within the same deadline', async () => {
    const receiver = await startReceiver({
      onRequest: (socket, _request, nth) => {
        if (nth === 1 && receiver.connections.length === 1) socket.write(OK);
        if (nth === 2) socket.end();
      },
    });
    await postWell(receiver);
    const result = await post(receiver, 1500);
    expect(result).toMatchObject({ kind: 'failure', code: 'timeout' });
    // eslint-disable-next-line no-restricted-syntax -- half of the client's deadline, which the repeat must not get
    expect(result.durationMs).toBeLessThan(30_000);
    expect(receiver.connections).toHaveLength(2);
  });
});

describe('a client', () => {
  it('rejects an invalid header with an internal error', async () => {
    const receiver = await startReceiver({});
    await expect(client.post({ url: receiver.url, headers: { 'x-a': 'a\r\nb' }, body: '' })).rejects.toThrow();
    expect(receiver.connections).toEqual([]);
  });

  it('that is shut down ends requests in flight with an internal error', async () => {
    const receiver = await startReceiver({});
    const result = post(receiver);
    const ended = expect(result).rejects.toThrow();
    await waitFor(() => receiver.requests.length === 1, { what: 'the request' });
    await client.onApplicationShutdown();
    await ended;
    await waitFor(() => receiver.openConnections() === 0, { what: 'the connection to close' });
  });
});
