import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { attempt, type AttemptOptions } from './attempt';
import type { Fetch } from './client-options';

describe('attempt', () => {
  let server: Server;
  let listener: RequestListener;
  let url: string;

  beforeAll(async () => {
    server = createServer((request, response) => listener(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  const make = (options: Partial<AttemptOptions> = {}, method = 'GET') =>
    attempt(globalThis.fetch, url, { method, headers: {} }, { timeoutMs: 30_000, signal: undefined, ...options });

  it('returns the response with its headers', async () => {
    listener = (_, response) => response.writeHead(418, { 'retry-after': '7' }).end('tea');
    const outcome = await make();
    expect(outcome).toMatchObject({ kind: 'answer', status: 418, text: 'tea' });
    expect(outcome.kind === 'answer' && [outcome.header('Retry-After'), outcome.header('x')]).toEqual(['7', null]);
  });

  it('follows no redirect, which would turn a POST into a GET', async () => {
    let requests = 0;
    listener = (_, response) => {
      requests += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    };
    const outcome = await make({}, 'POST');
    expect(outcome).toMatchObject({ kind: 'answer', status: 302 });
    expect(outcome.kind === 'answer' && outcome.header('location')).toBe('/elsewhere');
    expect(requests).toBe(1);
  });

  it('fails when the connection breaks before or during the response', async () => {
    listener = (request) => request.socket.destroy();
    expect(await make()).toMatchObject({ kind: 'error', cause: { name: 'TypeError' } });
    listener = (_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    };
    expect(await make()).toMatchObject({ kind: 'error', cause: { name: 'TypeError' } });
  });

  it.each([
    ['begins', () => undefined],
    ['is complete', (_, response) => void response.writeHead(200).write('half')],
  ] satisfies [string, RequestListener][])('fails when the time is up before the response %s', async (_, silent) => {
    listener = silent;
    expect(await make({ timeoutMs: 50 })).toEqual({
      kind: 'error',
      cause: new Error('there was no complete answer within 50 ms'),
    });
  });

  it('reports a timeout as such, whatever error fetch throws', async () => {
    const fetch: Fetch = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('AbortError'))));
    expect(await attempt(fetch, url, { method: 'GET', headers: {} }, { timeoutMs: 1, signal: undefined })).toEqual({
      kind: 'error',
      cause: new Error('there was no complete answer within 1 ms'),
    });
  });

  it('rejects with the reason of the signal', async () => {
    const ending = new AbortController();
    listener = () => ending.abort(new Error('enough'));
    await expect(make({ signal: ending.signal })).rejects.toThrow('enough');
    await expect(make({ signal: ending.signal })).rejects.toThrow('enough');
  });

  it('leaves no listener on a long-lived signal', async () => {
    const { signal } = new AbortController();
    const [added, removed] = [jest.spyOn(signal, 'addEventListener'), jest.spyOn(signal, 'removeEventListener')];
    listener = (_, response) => response.end();
    await make({ signal });
    expect(added).toHaveBeenCalledTimes(1);
    expect(removed.mock.calls.map(([name, end]) => [name, end])).toEqual(
      added.mock.calls.map(([name, end]) => [name, end]),
    );
  });
});
