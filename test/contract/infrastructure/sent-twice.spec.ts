import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataOf, type Reply } from '../../support/api';
import { freePort, useService } from '../../support/service';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../../e2e/stage/examples';
import { publish } from '../../e2e/stage/steps';

const { paths } = JSON.parse(readFileSync(join(__dirname, '../../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, object>>;
};
/** Every operation that may change something, except those that delete. */
const WRITES = Object.entries(paths).flatMap(([path, methods]) =>
  ['post', 'put', 'patch'].filter((method) => method in methods).map((method) => `${method.toUpperCase()} ${path}`),
);

/** What a repeat must not change: all but when a token was last used, and when a list of followers was last read. */
const STATE = `
  select
    (select jsonb_agg(to_jsonb(t) order by id) from webhook_service.webhooks t) as webhooks,
    (select jsonb_agg(to_jsonb(t) - 'last_used_at' order by id) from webhook_service.access_tokens t) as tokens,
    (select jsonb_agg(to_jsonb(t) order by code_expires_at) from webhook_service.console_links t) as links,
    (select jsonb_agg(to_jsonb(t) order by name) from webhook_service.event_types t) as types,
    (select jsonb_agg(to_jsonb(t) order by id) from webhook_service.recoveries t) as recoveries,
    (select jsonb_agg(to_jsonb(t) - 'last_read_at' order by id) from webhook_service.accounts t) as accounts,
    (select jsonb_agg(to_jsonb(t) order by follower_id) from webhook_service.account_followers t) as followers,
    (select jsonb_agg(to_jsonb(t) order by key) from webhook_service.event_keys t) as keys,
    (select count(*) from webhook_service.events where not is_test) as events,
    (select count(*) from webhook_service.deliveries where trigger = 'redelivery' and attempt = 1) as redeliveries`;

const URL = 'https://example.com/hooks';
const EVENT = { event: 'job.started', data: EXAMPLES['job.started'] };
const TYPE = { description: 'A type.', schema: { type: 'object' }, example: { a: 1 } };
const HEADERS = { 'x-api-key': 'k-4f2a91' };

/** Makes another one: each request wants one. Which is why clients name what they make, where they can. */
const MAKES_ANOTHER = [
  'POST /api/webhooks/{id}/test',
  'POST /api/webhooks/{id}/recover',
  'POST /api/webhooks/{id}/messages/lease',
  'POST /api/accounts',
  'POST /api/tokens',
  'POST /api/console-links',
  'POST /api/console-sessions',
];

describe('A write that is sent twice', () => {
  const service = useService(() => ({ RATE_LIMIT_PER_MINUTE: '0', RETRY_BASE_DELAY_MS: '3600000' }));
  const state = async () => (await service.database.query(STATE))[0];
  let requests: Record<string, [path: string, body: unknown, codeOfRepeat?: string]>;

  beforeAll(async () => {
    const { api } = service;
    const refusing = { url: `http://127.0.0.1:${await freePort()}/`, events: ['follower.lost'], retryDelaysMs: [] };
    const push = await dataOf(
      api.createWebhook({ url: URL, events: ['follower.gained'], secret: 'the first secret' }),
      201,
    );
    const failing = await dataOf(api.createWebhook(refusing), 201);
    const pull = await dataOf(api.createWebhook({ kind: 'pull', events: ['job.completed'] }), 201);
    await publish(api, 'job.completed');
    const [message] = await dataOf(api.lease(pull.id, { waitSeconds: 20 }));
    const event = await publish(api, 'follower.lost');
    const deliveries = () => dataOf(api.listDeliveries(failing.id, {}));
    await waitFor(async () => (await deliveries()).some(({ status }) => status === 'failed'), { what: 'a failure' });
    const failed = (await deliveries()).find(({ status }) => status === 'failed')!;
    // What is redelivered waits for its retry, so nothing happens by itself any more.
    await dataOf(api.updateWebhook(failing.id, { retryDelaysMs: null }));
    const account = await dataOf(api.createAccount({ provider: 'push', handle: 'ada' }), 201);
    await dataOf(api.putFollowers(account.id, { followers: [{ id: '0', username: 'zero' }] }));
    const receiver = await api.call<{ id: string }>('POST', '/api/try-receivers', { body: {} });
    const ofReceiver = receiver.success ? `/api/try-receivers/${receiver.data.id}` : '/api/try-receivers/none';
    requests = {
      'POST /api/webhooks': [
        '/api/webhooks',
        { url: URL, events: ['webhook.disabled'], externalId: 'one' },
        'external_id_taken',
      ],
      'PATCH /api/webhooks/{id}': [
        `/api/webhooks/${push.id}`,
        {
          url: `${URL}/2`,
          description: 'x',
          secret: 'the second secret',
          headers: HEADERS,
          metadata: { a: 'b' },
          active: false,
        },
      ],
      'POST /api/webhooks/{id}/rotate-secret': [
        `/api/webhooks/${push.id}/rotate-secret`,
        { secret: 'the third secret' },
      ],
      'POST /api/webhooks/{id}/test': [`/api/webhooks/${failing.id}/test`, {}],
      'PUT /api/webhooks/external/{externalId}': [
        '/api/webhooks/external/two',
        {
          url: URL,
          events: ['webhook.disabled'],
          secret: 'a secret of mine',
          headers: HEADERS,
          filter: { 'data.a': 1 },
        },
      ],
      'POST /api/filter-checks': ['/api/filter-checks', { filter: { 'data.attempt': 1 }, ...EVENT }],
      'POST /api/format-previews': ['/api/format-previews', { format: 'slack', ...EVENT }],
      'POST /api/events': ['/api/events', { ...EVENT, subject: 'invoice/1', idempotencyKey: 'one' }],
      'POST /api/events/batch': [
        '/api/events/batch',
        { events: [{ ...EVENT, subject: 'invoice/1', idempotencyKey: 'two' }] },
      ],
      'POST /api/event-types': ['/api/event-types', { name: 'sent.twice', ...TYPE }, 'event_type_exists'],
      'PUT /api/event-types/{name}': ['/api/event-types/sent.once_more', TYPE],
      'POST /api/webhooks/{id}/deliveries/{deliveryId}/redeliver': [
        `/api/webhooks/${failing.id}/deliveries/${failed.id}/redeliver`,
        undefined,
        'delivery_pending',
      ],
      'POST /api/webhooks/{id}/recover': [`/api/webhooks/${failing.id}/recover`, { since: event.createdAt }],
      'POST /api/webhooks/{id}/messages/lease': [`/api/webhooks/${pull.id}/messages/lease`, {}],
      'POST /api/webhooks/{id}/messages/ack': [
        `/api/webhooks/${pull.id}/messages/ack`,
        { succeeded: [message!.leaseId] },
      ],
      'POST /api/try-receivers': ['/api/try-receivers', {}],
      'PATCH /api/try-receivers/{id}': [ofReceiver, { answer: 500 }],
      'POST /api/accounts': ['/api/accounts', { provider: 'push', handle: 'ada' }],
      'PUT /api/accounts/{id}/followers': [
        `/api/accounts/${account.id}/followers`,
        { followers: [{ id: '1', username: 'one' }] },
      ],
      'POST /api/tokens': ['/api/tokens', { name: 'x', scopes: ['webhooks:read'] }],
      'POST /api/console-links': ['/api/console-links', {}],
      'POST /api/console-sessions': ['/api/console-sessions', {}],
    };
  });

  it.each(WRITES)('%s changes nothing the second time, or says why', async (route) => {
    const [path, body, codeOfRepeat] = requests[route] ?? [];
    if (path === undefined) throw new Error(`Say in this test what to send to ${route}.`);
    const send = (): Promise<Reply<unknown>> => service.api.call(route.split(' ')[0]!, path, { body });
    const first = await send();
    const before = await state();
    const second = await send();
    if (MAKES_ANOTHER.includes(route)) return expect([first.success, second.success]).toEqual([true, true]);
    expect(await state()).toEqual(before);
    if (first.success) expect(second).toMatchObject(codeOfRepeat ? { code: codeOfRepeat } : { success: true });
    else expect(second).toMatchObject({ code: first.code });
  });

  it('is told when it would rotate to yet another secret', async () => {
    const { id } = await dataOf(service.api.createWebhook({ url: URL, events: ['webhook.disabled'] }), 201);
    const first = await dataOf(service.api.rotateSecret(id, {}));
    const before = await state();
    const second = await service.api.rotateSecret(id, {});
    expect(second).toMatchObject({ status: 409, code: 'rotation_running' });
    expect(!second.success && second.error).toContain(`overlaps until ${first.previousSecretExpiresAt}`);
    expect(await state()).toEqual(before);
  });
});
