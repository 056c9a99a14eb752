import { inspect } from 'node:util';
import type { ClientOptions, Fetch, FetchRequest } from './client-options';
import { createClient } from './create-client';

const URL = 'http://service.test/hooks';
const TOKEN = 'wns_secret-token';
const EVENT = { event: 'invoice.paid', data: { cents: 1 } };

interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}
interface Sent extends FetchRequest {
  url: string;
  json: unknown;
  atMs: number;
}

const OK: Reply = { body: { success: true, data: { id: '1' } } };
const refusal = (status: number, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  body: { success: false, error: 'Not now.' },
});
const RESET = new TypeError('fetch failed', { cause: new Error('read ECONNRESET') });

/** A client of a service that returns these responses, the last one repeatedly, with a clock that the test controls. */
function clientOf(answers: (Reply | Error)[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = [];
  const startedAt = Date.now();
  const fetch: Fetch = (url, request) => {
    const { body } = request;
    sent.push({ ...request, url, json: body && JSON.parse(body), atMs: Date.now() - startedAt });
    const answer = answers[Math.min(sent.length, answers.length) - 1] ?? OK;
    if (answer instanceof Error) return Promise.reject(answer);
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return Promise.resolve(new Response(text, { status: answer.status ?? 200, headers: answer.headers ?? {} }));
  };
  return { client: createClient({ url: URL, token: TOKEN, fetch, ...options }), sent };
}

/** Returns the outcome of a call, and advances the clock as far as the call waits. */
async function settled<T>(call: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [[result]] = await Promise.all([Promise.allSettled([call]), jest.advanceTimersByTimeAsync(600_000)]);
  return result;
}
const rejected = async (call: Promise<unknown>): Promise<unknown> => {
  const result = await settled(call);
  return result.status === 'rejected' ? result.reason : `It answered ${JSON.stringify(result.value)}.`;
};

beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe('A request', () => {
  it('carries the token, and JSON when it has a body', async () => {
    const { client, sent } = clientOf([OK]);
    await client.webhooks.create({ url: 'https://example.com', events: ['*'] });
    await client.webhooks.read('a/b');
    expect(sent).toMatchObject([
      {
        method: 'POST',
        url: `${URL}/api/webhooks`,
        redirect: 'manual',
        headers: { authorization: `Bearer ${TOKEN}`, accept: 'application/json', 'content-type': 'application/json' },
        json: { url: 'https://example.com', events: ['*'] },
      },
      { method: 'GET', url: `${URL}/api/webhooks/a%2Fb` },
    ]);
    expect(sent[1]?.headers).toEqual({ authorization: `Bearer ${TOKEN}`, accept: 'application/json' });
    expect(sent[1]).not.toHaveProperty('body');
  });

  it('returns the data of the envelope, and a page for a list', async () => {
    const page = { data: [{ id: '1' }], nextCursor: 'c' };
    const { client, sent } = clientOf([OK, { body: { success: true, ...page } }]);
    expect(await client.webhooks.read('1')).toEqual({ id: '1' });
    expect(await client.deliveries.list({ status: ['failed', 'canceled'], limit: 1 })).toEqual(page);
    expect(sent[1]?.url).toBe(`${URL}/api/deliveries?status=failed&status=canceled&limit=1`);
  });

  it('can call any route', async () => {
    const { client, sent } = clientOf([OK]);
    const header = { traceparent: '00-1-2-01' };
    expect(await client.request('POST', '/api/events', { header, body: EVENT })).toEqual({ id: '1' });
    await client.request('DELETE', '/api/event-types/{name}', {
      path: { name: 'a.b' },
      query: { application: 'shop' },
    });
    expect(sent).toMatchObject([
      { method: 'POST', url: `${URL}/api/events`, json: EVENT, headers: header },
      { method: 'DELETE', url: `${URL}/api/event-types/a.b?application=shop` },
    ]);
  });

  it('uses the global fetch that exists at the time of the call', async () => {
    const client = createClient({ url: URL, token: TOKEN });
    jest.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('{"success":true,"data":1}'));
    expect(await client.me()).toBe(1);
  });

  it('without a required id is not sent', async () => {
    const { client, sent } = clientOf([OK]);
    expect(await rejected(client.webhooks.remove(''))).toEqual(expect.any(TypeError));
    expect(sent).toEqual([]);
  });
});

describe('Every published event', () => {
  it('has an idempotency key: the given one or a new one', async () => {
    const { client, sent } = clientOf([OK]);
    await client.events.publish({ ...EVENT, idempotencyKey: 'mine' });
    await client.events.publish(EVENT);
    await client.events.publishBatch([EVENT, { ...EVENT, idempotencyKey: 'mine' }, EVENT]);
    const [given, made, batch] = sent.map(
      ({ json }) => json as { idempotencyKey: string; events: { idempotencyKey: string }[] },
    );
    const inBatch = batch?.events.map(({ idempotencyKey }) => idempotencyKey) ?? [];
    expect([given?.idempotencyKey, inBatch[1]]).toEqual(['mine', 'mine']);
    const keys = [made?.idempotencyKey, inBatch[0], inBatch[2]];
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('carries its traceparent', async () => {
    const { client, sent } = clientOf([OK]);
    await client.events.publish(EVENT, { traceparent: '00-1-2-01' });
    expect(sent[0]?.headers).toMatchObject({ traceparent: '00-1-2-01' });
  });
});

describe('A recovery', () => {
  it('can be counted without being started', async () => {
    const { client, sent } = clientOf([OK]);
    await client.recoveries.count('1', { since: '2026-01-15T09:30:00Z' });
    await client.recoveries.start('1', { since: '2026-01-15T09:30:00Z' });
    expect(sent.map(({ json }) => json)).toMatchObject([{ dryRun: true }, { dryRun: false }]);
  });
});

describe('An event type', () => {
  it('is forced only when the caller requests it, and removed for its application', async () => {
    const { client, sent } = clientOf([OK]);
    const eventType = { description: 'Paid.' };
    await client.eventTypes.save('a.b', eventType);
    await client.eventTypes.save('a.b', eventType, { force: true });
    await client.eventTypes.remove('a.b', { application: 'shop' });
    const url = `${URL}/api/event-types/a.b`;
    expect(sent.map((request) => request.url)).toEqual([url, `${url}?force=true`, `${url}?application=shop`]);
    expect(sent.map(({ json }) => json)).toEqual([eventType, eventType, undefined]);
  });
});

describe('After 429 and 503', () => {
  it.each([429, 503])('(%i) any request is retried after the delay of retry-after', async (status) => {
    const { client, sent } = clientOf([refusal(status, { 'retry-after': '2' }), OK]);
    expect(await settled(client.tokens.create({ name: 'a', scopes: [] }))).toMatchObject({ value: { id: '1' } });
    expect(sent.map(({ atMs }) => atMs)).toEqual([0, 2_000]);
    expect(sent[1]?.json).toEqual(sent[0]?.json);
  });

  it('retry-after may be a date, and without it the delays double', async () => {
    const date = new Date(Math.floor(Date.now() / 1000) * 1000 + 10_000);
    const dated = clientOf([refusal(429, { 'retry-after': date.toUTCString() }), OK]);
    await settled(dated.client.me());
    expect(dated.sent[1]?.atMs).toBeGreaterThan(8_500);
    expect(dated.sent[1]?.atMs).toBeLessThanOrEqual(10_000);
    const undated = clientOf([refusal(503), refusal(429), refusal(503), OK]);
    await settled(undated.client.me());
    expect(undated.sent.map(({ atMs }) => atMs)).toEqual([0, 500, 1_500, 3_500]);
  });

  it('a request that may have been processed is not retried after a 503 without retry-after', async () => {
    const lost = clientOf([refusal(503), OK]);
    expect(await rejected(lost.client.tokens.create({ name: 'a', scopes: [] }))).toMatchObject({ status: 503 });
    expect(lost.sent).toHaveLength(1);
    const once = clientOf([refusal(503), OK]);
    await settled(once.client.events.publish({ event: 'mail.sent', data: {} }));
    expect(once.sent).toHaveLength(2);
  });

  it('a delay is at most a minute, and there are at most maxRetries of them', async () => {
    const { client, sent } = clientOf([refusal(429, { 'retry-after': '3600', 'x-request-id': 'r' })]);
    expect(await rejected(client.me())).toMatchObject({ status: 429, message: 'Not now.', requestId: 'r' });
    expect(sent.map(({ atMs }) => atMs)).toEqual([0, 60_000, 120_000, 180_000]);
    const never = clientOf([refusal(503)], { maxRetries: 0 });
    expect(await rejected(never.client.me())).toMatchObject({ status: 503, requestId: null });
    expect(never.sent).toHaveLength(1);
  });

  it('no retry follows other error statuses', async () => {
    for (const status of [400, 401, 408, 409, 500, 502, 504]) {
      const { client, sent } = clientOf([refusal(status, { 'retry-after': '1' })]);
      expect(await rejected(client.me())).toMatchObject({ name: 'WebhookServiceError', status, message: 'Not now.' });
      expect(sent).toHaveLength(1);
    }
  });
});

describe('Without a response', () => {
  type Client = ReturnType<typeof createClient>;
  it.each<[string, (client: Client) => Promise<unknown>]>([
    ['GET', (client) => client.webhooks.read('1')],
    ['PUT', (client) => client.accounts.putFollowers('1', { followers: [] })],
    ['DELETE', (client) => client.webhooks.remove('1')],
    ['event', (client) => client.events.publish(EVENT)],
    ['batch', (client) => client.events.publishBatch([EVENT])],
    ['PATCH marked as repeatable', (client) => client.webhooks.update('1', {}, { repeatable: true })],
  ])('a request is retried unchanged: %s', async (_, call) => {
    const { client, sent } = clientOf([RESET, RESET, OK]);
    expect(await settled(call(client))).toMatchObject({ value: { id: '1' } });
    expect(sent.map(({ atMs }) => atMs)).toEqual([0, 500, 1_500]);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
  });

  it.each<[string, (client: Client) => Promise<unknown>]>([
    ['webhook', (client) => client.webhooks.create({ url: 'https://example.com', events: ['*'] })],
    ['webhook update', (client) => client.webhooks.update('1', { active: true })],
    ['test delivery', (client) => client.webhooks.test('1')],
    ['token', (client) => client.tokens.create({ name: 'a', scopes: [] })],
    ['redelivery', (client) => client.deliveries.redeliver('1', '2')],
    ['recovery', (client) => client.recoveries.start('1', { since: '2026-01-15T09:30:00Z' })],
    ['event without a key', (client) => client.request('POST', '/api/events', { body: EVENT })],
    ['GET marked as not repeatable', (client) => client.me({ repeatable: false })],
  ])('a request is not retried: %s', async (_, call) => {
    const { client, sent } = clientOf([RESET, OK]);
    expect(await rejected(call(client))).toMatchObject({ name: 'WebhookServiceError', status: null, cause: RESET });
    expect(sent).toHaveLength(1);
  });

  it('the error names the request and the reason', async () => {
    const { client } = clientOf([RESET], { maxRetries: 1 });
    expect(await rejected(client.webhooks.read('1'))).toMatchObject({
      message: `No answer to GET ${URL}/api/webhooks/1: read ECONNRESET.`,
      requestId: null,
    });
  });
});

describe('A response that does not arrive', () => {
  const never: Fetch = (_, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  const client = createClient({ url: URL, token: TOKEN, fetch: never, maxRetries: 0 });

  it.each([
    [30_000, () => client.me()],
    [70, () => client.me({ timeoutMs: 70 })],
    [50_000, () => client.deliveries.list({ changedAfter: 'now', waitSeconds: 20 })],
    [50_000, () => client.messages.lease('1', { waitSeconds: 20 })],
    [20_070, () => client.deliveries.listOf('1', { changedAfter: 'now', waitSeconds: 20 }, { timeoutMs: 70 })],
  ])('is awaited for %i ms', async (ms, call) => {
    const ended = jest.fn();
    const error = call().catch((reason: unknown) => (ended(), reason));
    await jest.advanceTimersByTimeAsync(ms - 1);
    expect(ended).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalled();
    expect(await error).toMatchObject({ status: null, message: expect.stringContaining(`within ${ms} ms`) });
  });
});

describe('A signal', () => {
  it('ends the delay before a retry', async () => {
    const { client, sent } = clientOf([refusal(429, { 'retry-after': '30' }), OK]);
    const ending = new AbortController();
    const call = client.me({ signal: ending.signal }).catch((reason: unknown) => reason);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(jest.getTimerCount()).toBe(1);
    ending.abort(new Error('enough'));
    expect(jest.getTimerCount()).toBe(0);
    expect(await call).toEqual(new Error('enough'));
    expect(sent).toHaveLength(1);
  });

  it('that is aborted while an error response arrives starts no delay', async () => {
    const ending = new AbortController();
    const fetch: Fetch = () => {
      ending.abort(new Error('enough'));
      return Promise.resolve(new Response('', { status: 503, headers: { 'retry-after': '30' } }));
    };
    const client = createClient({ url: URL, token: TOKEN, fetch });
    await expect(client.me({ signal: ending.signal })).rejects.toThrow('enough');
  });

  it('that was aborted before the call prevents the request', async () => {
    const { client, sent } = clientOf([OK]);
    expect(await rejected(client.me({ signal: AbortSignal.abort(new Error('enough')) }))).toEqual(new Error('enough'));
    expect(sent).toEqual([]);
  });
});

describe('The token', () => {
  it('may be read before each call, and is validated each time', async () => {
    const tokens = ['wns_first-token-of-two', 'wns_second-token-of-two', ''];
    const { client, sent } = clientOf([OK], { token: () => Promise.resolve(tokens.shift() ?? '') });
    await settled(client.me());
    await settled(client.me());
    expect(sent.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer wns_first-token-of-two',
      'Bearer wns_second-token-of-two',
    ]);
    expect(await rejected(client.me())).toEqual(expect.objectContaining({ name: 'TypeError' }));
    expect(sent).toHaveLength(2);
  });

  it('appears neither in errors nor in the inspected client', async () => {
    const echo = clientOf([{ status: 401, body: { success: false, error: `Unknown: ${TOKEN}` } }]);
    expect(await rejected(echo.client.me())).toMatchObject({ message: 'Unknown: [token]', status: 401 });
    const failing = clientOf([new Error(`cannot send ${TOKEN}`)], { maxRetries: 0 });
    const error = (await rejected(failing.client.me())) as Error;
    expect(error.message).toContain('cannot send [token]');
    expect(inspect(failing.client, { depth: 9, showHidden: true })).not.toContain(TOKEN);
  });
});
