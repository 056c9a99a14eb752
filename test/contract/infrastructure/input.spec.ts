import { dataOf, errorOf, exchange } from '../../support/api';
import { cpuMsOf } from '../../support/cpu-time';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { cryptoSignature } from '../../support/signatures';
import { EXAMPLES, UNKNOWN_ID } from '../../e2e/stage/examples';
import { deleteWebhooks, subscribe } from '../../e2e/stage/steps';

const MEGABYTE = 1_048_576;
const WEBHOOK = { url: 'https://example.com/hook', events: ['job.started'] };

describe('What comes in', () => {
  const service = useService();
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));
  // Whatever a client sends, it is not the service that was at fault.
  afterAll(() => expect(service.logs()).not.toMatch(/"level":[56]0/));
  const send = (method: string, path: string, rawBody: string | Buffer, status = 400) =>
    errorOf(service.api.call(method, path, { rawBody }), status);
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

  const BODIES: [string, string, string][] = [
    ['POST', '/api/webhooks', 'url'],
    ['POST', '/api/webhooks', 'anything'],
    ['PATCH', `/api/webhooks/${UNKNOWN_ID}`, 'events'],
    ['POST', `/api/webhooks/${UNKNOWN_ID}/test`, 'event'],
    ['POST', '/api/tokens', 'scopes'],
    ['POST', '/api/events', 'event'],
    ['POST', '/api/events', 'userId'],
    ['POST', '/api/events', 'anything'],
  ];

  it.each(BODIES)('is refused by %s %s when it is nested 5,000 or 20,000 deep in %s', async (method, path, field) => {
    for (const depth of [65, 5000, 20_000]) {
      await send(method, path, `{"event":"job.started","data":{},"${field}":${nested(depth)}}`);
      await send(method, path, nested(depth));
    }
  });

  it('is refused at once when it contains thousands of values, wherever they are', async () => {
    const many = JSON.stringify(new Array(20_000).fill(1));
    const names = JSON.stringify(Array.from({ length: 5000 }, (_, i) => `a.b${i}`));
    const before = cpuMsOf(service.pid);
    for (const field of ['events', 'anything', 'secret']) {
      expect(await send('POST', '/api/webhooks', `{"url":"https://example.com/","${field}":${many}}`)).toMatch(/many/);
    }
    expect(await send('POST', '/api/webhooks', `{"url":"https://example.com/","events":${names}}`)).toMatch(/many/);
    expect(await send('POST', '/api/tokens', `{"name":"x","scopes":${many}}`)).toMatch(/many/);
    // 20,000 values compared with each other would take far longer.
    expect(cpuMsOf(service.pid) - before).toBeLessThan(5000);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'is refused with a field %s, on every route that takes a body',
    async (field) => {
      const body = { ...WEBHOOK, name: 'x', scopes: ['webhooks:read'], event: 'job.started' };
      const rawBody = `{"${field}":{"a":1},${JSON.stringify(body).slice(1)}`;
      for (const [method, path] of BODIES) await send(method, path, rawBody);
    },
  );

  it.each(['{"constructor":1}', '{"constructor":{"prototype":{"a":1}},"prototype":null,"valueOf":[]}'])(
    'is delivered as it is when %s is in the data of an event',
    async (result) => {
      const hook = receiver.hook();
      await subscribe(service.api, hook, ['operation.complete'], { secret: 'a secret of mine' });
      const frame = { event: 'operation.complete', data: { ...EXAMPLES['operation.complete'], result: 'here' } };
      const rawBody = JSON.stringify(frame).replace('"here"', () => result);
      await dataOf(service.api.call('POST', '/api/events', { rawBody }), 202);
      const [call] = await hook.received(1);
      expect(call!.body.toString()).toContain(`"result":${result}`);
      expect(call!.headers['x-service-signature']).toBe(cryptoSignature(call!.body, 'a secret of mine'));
    },
  );

  it('is refused with __proto__ anywhere in the data of an event', async () => {
    await send('POST', '/api/events', '{"event":"job.started","data":{"__proto__":{"a":1}}}');
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  it('is refused in UTF-16 and UTF-32, and as two documents', async () => {
    for (const [method, path] of BODIES) {
      await send(method, path, Buffer.from(`\ufeff${JSON.stringify(WEBHOOK)}`, 'utf16le'));
      await send(method, path, Buffer.from([...JSON.stringify(WEBHOOK)].flatMap((c) => [0, 0, 0, c.charCodeAt(0)])));
      await send(method, path, `${JSON.stringify(WEBHOOK)}${JSON.stringify(WEBHOOK)}`);
      await send(method, path, `${JSON.stringify(WEBHOOK)}\n[]`);
    }
  });

  it.each(['"false"', '"true"', '0', '1', 'null', '[]', '{}', '""'])(
    'is refused with %s for a boolean',
    async (active) => {
      const { id } = await subscribe(service.api, receiver.hook(), ['job.started']);
      const create = `${JSON.stringify(WEBHOOK).slice(0, -1)},"active":${active}}`;
      expect(await send('POST', '/api/webhooks', create)).toMatch(/active/);
      expect(await send('PATCH', `/api/webhooks/${id}`, `{"active":${active}}`)).toMatch(/active/);
    },
  );

  it.each(['\u0000', 'a\u0000b', '\ud800', '\udc00x'])(
    'is refused with %j in a text, not answered 500',
    async (text) => {
      const { id } = await subscribe(service.api, receiver.hook(), ['job.started']);
      for (const field of ['description', 'url', 'secret']) {
        const value = field === 'url' ? `https://example.com/${text}` : `some text ${text}`;
        await errorOf(service.api.createWebhook({ ...WEBHOOK, [field]: value }), 400);
        await errorOf(service.api.updateWebhook(id, { [field]: value }), 400);
      }
      await errorOf(service.api.createWebhook({ ...WEBHOOK, events: [text] }), 400);
      await errorOf(service.api.testWebhook(id, { event: text }), 400);
      await errorOf(service.api.publish({ event: text, data: {} }), 400);
      await errorOf(service.api.publish({ event: 'job.started', data: EXAMPLES['job.started'], userId: text }), 400);
      await errorOf(service.api.createToken({ name: text, scopes: ['webhooks:read'] }), 400);
    },
  );

  const LISTS = ['/api/webhooks', '/api/events', '/api/tokens', `/api/webhooks/${UNKNOWN_ID}/deliveries`];

  it.each(LISTS)('is refused, or finds nothing, with odd values in the query of %s', async (path) => {
    const odd = [
      '%00',
      '%ED%A0%80',
      "'",
      "';drop table x;--",
      '%25',
      '\\',
      '9'.repeat(40),
      '1e400',
      '../',
      '%F0%9F%94%91',
    ];
    for (const name of [
      'event',
      'eventId',
      'userId',
      'since',
      'until',
      'limit',
      'cursor',
      'active',
      'status',
      'trigger',
    ]) {
      for (const value of odd) {
        const { status } = await service.api.call('GET', `${path}?${name}=${encodeURI(value).replaceAll('%25', '%')}`);
        expect({ path, name, value, fits: [200, 400, 404].includes(status) }).toMatchObject({ fits: true });
      }
      const twice = await service.api.call('GET', `${path}?${name}=1&${name}=2`);
      expect([400, 404]).toContain(twice.status);
    }
  });

  it.each(['1', "'", '..%2F', '%00', '%27%3B--', UNKNOWN_ID.slice(1), `${UNKNOWN_ID}0`, `{${UNKNOWN_ID}}`])(
    'is refused with the id %s',
    async (id) => {
      for (const path of ['webhooks', 'events', 'tokens'].map((resource) => `/api/${resource}/${id}`)) {
        for (const method of ['GET', 'PATCH', 'DELETE']) {
          expect([400, 404, 405]).toContain((await service.api.call(method, path, { body: {} })).status);
        }
      }
    },
  );

  it.each([1, 5, 12])('is answered 413 when it is a body of %i MB', async (megabytes) => {
    const rawBody = 'x'.repeat(megabytes * MEGABYTE);
    for (let i = 0; i < 3; i++) await send('POST', '/api/webhooks', rawBody, 413);
    await send('POST', '/api/events', rawBody, 413);
    const answer = await fetch(`${service.url}/api/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: rawBody,
    });
    expect(await answer.json()).toMatchObject({ success: false });
    expect(answer.status).toBe(413);
  });
});

describe('A large body', () => {
  const service = useService({ AUTH_FAILURES_PER_MINUTE: '0' });

  it.each([
    ['POST', '/api/events/batch'],
    ['PUT', `/api/accounts/${UNKNOWN_ID}/followers`],
  ])('is not read by %s %s without a valid token', async (method, path) => {
    // Whoever read it would find that it is no JSON.
    const rawBody = '['.repeat(MEGABYTE);
    for (const token of [null, `wns_${'a'.repeat(43)}`]) {
      const { status } = await service.api.withToken(token).call(method, path, { rawBody });
      expect(status).toBe(401);
    }
    expect((await service.api.call(method, path, { rawBody })).status).toBe(400);
  });
});

describe('Every answer', () => {
  const service = useService();

  it.each(['/api/me', '/api/nothing', '/health/live', '/docs', '/docs/openapi.json'])(
    'tells a browser what not to do with it: %s',
    async (path) => {
      const { headers } = await exchange(service.url, 'GET', path);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
      });
      expect(headers['content-security-policy']).not.toMatch(/upgrade-insecure-requests|script-src[^;]*unsafe/);
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    },
  );

  it('lets Swagger UI run: its scripts and styles come from here, and none of its scripts stands in the page', async () => {
    const { text, headers } = await exchange(service.url, 'GET', '/docs');
    expect(headers['content-security-policy']).toMatch(/script-src 'self'/);
    const sources = [...text.matchAll(/<(?:script|link)\b[^>]*\b(?:src|href)="([^"]*)"/g)].map(([, source]) => source!);
    expect(sources.length).toBeGreaterThan(1);
    for (const source of sources) expect(new URL(source, `${service.url}/docs`).origin).toBe(service.url);
    const scripts = [...text.matchAll(/<script\b[^>]*>([^<]*)</g)].map(([, inside]) => inside!.trim());
    expect(scripts.filter((inside) => inside !== '')).toEqual([]);
    expect(text).not.toMatch(/\son\w+="/);
  });
});
