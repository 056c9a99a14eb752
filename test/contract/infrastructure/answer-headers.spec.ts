import { Webhook as StandardWebhook } from 'standardwebhooks';
import { type CallOptions, dataOf, exchange, type Reply } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { startService, useService } from '../../support/service';
import { UNKNOWN_ID } from '../../e2e/stage/examples';
import { subscribe } from '../../e2e/stage/steps';

const HOOK = { url: 'https://example.com/hook', events: ['job.started'] };
const ORIGIN = 'https://app.example';

describe('The headers of an answer', () => {
  const service = useService();

  it('forbid caches to keep it, also when it is an error', async () => {
    const answers = [service.api.me(), service.api.readWebhook(UNKNOWN_ID), service.api.call('GET', '/api/nothing')];
    for (const { headers } of [...(await Promise.all(answers)), await service.api.call('GET', '/api/%ZZ')]) {
      expect(headers['cache-control']).toBe('no-store, no-transform');
    }
  });

  it('name the path of the new resource', async () => {
    const { api } = service;
    const created: Reply<{ id?: string; name?: string }>[] = [
      await api.createWebhook(HOOK),
      await api.createAccount({ provider: 'push', handle: 'shop' }),
      await api.createEventType({ name: 'order.paid', description: 'An order was paid.' }),
      await api.saveEventType('order.sent', { description: 'An order was sent.' }),
    ];
    for (const { status, headers } of created) {
      expect([status, headers.location]).toEqual([201, expect.stringMatching(/^\/api\/[a-z-]+\/[\w.-]+$/)]);
      await dataOf(api.call('GET', String(headers.location)));
    }
    const saved = await api.saveEventType('order.sent', { description: 'An order was sent off.' });
    expect([saved.status, saved.headers.location]).toEqual([200, undefined]);
  });

  it('say that an idempotency key was ignored, wherever it does not count', async () => {
    const headers = { 'idempotency-key': 'a key' };
    const ignored = async (method: string, path: string, body?: unknown) =>
      (await service.api.call(method, path, { headers, body })).headers['idempotency-key-ignored'];
    expect(await ignored('POST', '/api/webhooks', HOOK)).toBe('true');
    expect(await ignored('POST', '/api/events/batch', { events: [] })).toBe('true');
    expect(await ignored('GET', '/api/me')).toBe('true');
    expect(await ignored('POST', '/api/events', { event: 'job.started', data: {} })).toBeUndefined();
    expect((await service.api.createWebhook(HOOK)).headers['idempotency-key-ignored']).toBeUndefined();
  });
});

describe('The etag of a webhook', () => {
  const service = useService();
  const receiver = useReceiver();
  const read = (id: string) => service.api.readWebhook(id);
  const etagOf = async (id: string) => String((await read(id)).headers.etag);
  const change = (id: string, etag: string, method = 'PATCH', body: unknown = { description: 'x' }) =>
    service.api.call(method, `/api/webhooks/${id}`, { headers: { 'if-match': etag }, body });

  it('changes with what its owner sets, and not with figures', async () => {
    const { id } = await subscribe(service.api, receiver.hook({ status: 500 }), ['job.started']);
    const first = await etagOf(id);
    expect(first).toMatch(/^"[\w-]+"$/);
    await dataOf(service.api.testWebhook(id));
    expect(await etagOf(id)).toBe(first);
    const seen = new Set([first]);
    for (const act of [
      () => service.api.updateWebhook(id, { description: 'another' }),
      () => service.api.updateWebhook(id, { active: false }),
      () => service.api.rotateSecret(id),
    ]) {
      await dataOf(act() as Promise<Reply<unknown>>);
      seen.add(await etagOf(id));
    }
    expect(seen.size).toBe(4);
  });

  it('lets only one of two owners change the version that both know', async () => {
    const { id } = await subscribe(service.api, receiver.hook(), ['job.started']);
    const etag = await etagOf(id);
    const replies = await Promise.all([1, 2, 3].map((i) => change(id, etag, 'PATCH', { description: `owner ${i}` })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
    expect(replies.find(({ success }) => !success)).toMatchObject({ code: 'precondition_failed' });
    const updated = replies.find(({ success }) => success);
    expect(updated?.headers.etag).toBe(await etagOf(id));
  });

  it('may be one of a list, or any, and never a weak one', async () => {
    const { id } = await subscribe(service.api, receiver.hook(), ['job.started']);
    expect((await change(id, `"other", ${await etagOf(id)}`)).status).toBe(200);
    expect((await change(id, '*')).status).toBe(200);
    expect((await change(id, `W/${await etagOf(id)}`)).status).toBe(412);
    expect((await change(UNKNOWN_ID, '*')).status).toBe(404);
  });

  it('guards deletion too', async () => {
    const { id } = await subscribe(service.api, receiver.hook(), ['job.started']);
    expect((await change(id, '"other"', 'DELETE', undefined)).status).toBe(412);
    expect((await change(id, await etagOf(id), 'DELETE', undefined)).status).toBe(200);
  });
});

describe('The secret of a webhook', () => {
  const service = useService();
  const receiver = useReceiver();

  it.each([undefined, 'correct horse battery staple', `whsec_${Buffer.alloc(32, 1).toString('base64')}`])(
    'is also given as Standard Webhooks libraries take it: %s',
    async (secret) => {
      const hook = receiver.hook();
      const created = await dataOf(
        service.api.createWebhook({ ...HOOK, url: hook.url, ...(secret && { secret }) }),
        201,
      );
      if (created.secret.startsWith('whsec_')) expect(created.standardSecret).toBe(created.secret);
      await dataOf(service.api.testWebhook(created.id));
      const [call] = await hook.received(1);
      const verify = () =>
        new StandardWebhook(created.standardSecret).verify(call!.body, call!.headers as Record<string, string>);
      expect(verify).not.toThrow();
      const rotated = await dataOf(service.api.rotateSecret(created.id, { secret: 'another secret of mine' }));
      expect(Buffer.from(rotated.standardSecret.slice(6), 'base64').toString()).toBe('another secret of mine');
    },
  );
});

describe('A page of another origin', () => {
  const service = useService({ CORS_ORIGINS: `${ORIGIN}, http://localhost:5173` });
  const send = (method: string, path: string, headers: CallOptions['headers'] = {}, body?: unknown) =>
    exchange(service.url, method, path, { headers: { origin: ORIGIN, ...headers }, body });
  const preflight = (path: string, origin = ORIGIN) =>
    send('OPTIONS', path, {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type',
    });

  it('may call the API from an origin that is allowed, after a preflight that needs no token', async () => {
    for (const origin of [ORIGIN, 'http://localhost:5173']) {
      const { status, headers, text } = await preflight(`/api/webhooks/${UNKNOWN_ID}`, origin);
      expect([status, text]).toEqual([204, '']);
      expect(headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': expect.stringContaining('PATCH'),
        'access-control-allow-headers': 'authorization, content-type',
        vary: expect.stringMatching(/origin/i),
        'x-request-id': expect.any(String),
      });
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  it('can read every answer, errors too', async () => {
    const authorization = `Bearer ${service.token}`;
    const answers = [
      await send('GET', '/api/me', { authorization }),
      await send('GET', '/api/me'),
      await send('GET', '/api/nothing'),
      await send('PUT', '/api/webhooks', { authorization }),
      await send('POST', '/api/webhooks', { authorization, 'content-type': 'text/plain' }, {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 405, 415]);
    for (const { headers } of answers) {
      expect(headers['access-control-allow-origin']).toBe(ORIGIN);
      expect(String(headers['access-control-expose-headers']).split(', ').sort()).toEqual(
        ['etag', 'location', 'ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id'].sort(),
      );
    }
  });

  it.each(['https://other.example', 'https://app.example.evil', 'http://app.example', 'null', `${ORIGIN}:8443`])(
    'is not let in from %s',
    async (origin) => {
      const { status, headers } = await preflight('/api/webhooks', origin);
      expect([status, headers['access-control-allow-origin']]).toEqual([405, undefined]);
      const answer = await send('GET', '/api/me', { origin });
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
      expect(answer.headers.vary).toMatch(/origin/i);
    },
  );

  it.each(['/api/console-sessions', '/api/console%2Dsessions', '/docs', '/docs/openapi.json', '/try/x'])(
    'has no access to %s',
    async (path) => {
      const { headers } = await preflight(path);
      expect(headers).not.toHaveProperty('access-control-allow-origin');
      expect((await send('GET', path)).headers).not.toHaveProperty('access-control-allow-origin');
    },
  );

  it('gets 404 for an unknown path, and 405 for an OPTIONS request that is no preflight', async () => {
    expect((await preflight('/api/nothing')).status).toBe(404);
    const { status, headers } = await send('OPTIONS', '/api/webhooks');
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST']);
  });
});

it.each(['*', 'null', 'http://app.example', 'https://app.example/', 'app.example', 'https://app.example/x'])(
  'CORS_ORIGINS=%s does not start',
  async (CORS_ORIGINS) => {
    await expect(startService({ CORS_ORIGINS })).rejects.toThrow(/CORS_ORIGINS must be comma-separated origins/);
  },
);
