import { randomUUID } from 'node:crypto';
import { Webhook as SvixWebhook } from 'svix';
import { type Api, type CreatedWebhook, dataOf, errorOf, type Message, pageOf } from '../../../support/api';
import { useService } from '../../../support/service';
import { cryptoSignature } from '../../../support/signatures';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { UNKNOWN_ID } from '../../stage/examples';
import { deleteWebhooks, deliveriesOf, publish, settledDeliveries } from '../../stage/steps';

const SCOPES = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish', 'messages:pull'];
const RETRY_MS = 300;

describeOnStores('A pull webhook', (store) => {
  const service = useService(() => ({
    ...{ MAX_RETRIES: '1', RETRY_BASE_DELAY_MS: String(RETRY_MS), RETRY_JITTER: '0', SIGNATURE_HEADERS: 'svix' },
    ...store.settings(),
  }));
  let api: Api;
  beforeEach(async () => {
    api = await service.apiFor(`user-${randomUUID()}`, SCOPES);
  });
  afterEach(() => deleteWebhooks(api));

  const create = (more: Record<string, unknown> = {}): Promise<CreatedWebhook> =>
    dataOf(api.createWebhook({ kind: 'pull', events: ['job.completed'], ...more }), 201);

  const lease = (webhook: { id: string }, body: Record<string, unknown> = {}): Promise<Message[]> =>
    dataOf(api.lease(webhook.id, { waitSeconds: 20, ...body }));

  async function leaseOne(webhook: { id: string }, body: Record<string, unknown> = {}): Promise<Message> {
    const [message, ...others] = await lease(webhook, body);
    expect(others).toEqual([]);
    return message!;
  }

  it('hands out what a POST would have had, and logs the attempt', async () => {
    const webhook = await create();
    expect(webhook).toMatchObject({ kind: 'pull', url: null, format: 'native', headers: {}, idleSeconds: null });
    const event = await publish(api, 'job.completed');
    const message = await leaseOne(webhook);
    expect(JSON.parse(message.body)).toMatchObject({ id: event.id, event: 'job.completed' });
    expect(message.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^webhook-notification-service\//),
      'x-service-event': 'job.completed',
      'x-service-delivery': message.deliveryId,
      'x-service-attempt': '1',
      'x-service-trigger': 'event',
      'x-service-signature': cryptoSignature(Buffer.from(message.body), webhook.secret),
      'webhook-id': event.id,
    });
    expect(() => new SvixWebhook(webhook.standardSecret).verify(message.body, message.headers)).not.toThrow();
    const held = await dataOf(api.readDelivery(webhook.id, message.deliveryId));
    expect(held).toMatchObject({ status: 'pending', waitsFor: null, url: null, attemptedAt: expect.any(String) });

    expect(await dataOf(api.acknowledge(webhook.id, { succeeded: [message.leaseId] }))).toEqual({
      ...{ succeeded: [message.leaseId], failed: [], expired: [] },
    });
    const row = await dataOf(api.readDelivery(webhook.id, message.deliveryId));
    expect(row).toMatchObject({
      ...{ status: 'succeeded', attempt: 1, url: null, error: null, responseStatus: null, response: null },
      request: { headers: message.headers, body: message.body },
    });
    expect(Date.parse(row.completedAt!) - Date.parse(row.attemptedAt!)).toBeGreaterThanOrEqual(row.durationMs!);
    const { lastLeasedAt, lastLeasedBy } = await dataOf(api.readWebhook(webhook.id));
    expect([lastLeasedAt, lastLeasedBy]).toEqual([expect.any(String), expect.any(String)]);
  });

  it('retries what a consumer rejects, by its own plan', async () => {
    const webhook = await create({ retryDelaysMs: [3_600_000] });
    const event = await publish(api, 'job.completed');
    const first = await leaseOne(webhook);
    const failed = [{ leaseId: first.leaseId, message: 'Not now.' }];
    expect(await dataOf(api.acknowledge(webhook.id, { failed }))).toMatchObject({ failed: [first.leaseId] });
    const [one, two] = await deliveriesOf(api, webhook, event);
    expect(one).toMatchObject({ status: 'failed', error: { code: 'rejected', message: 'Not now.' } });
    expect(two).toMatchObject({ attempt: 2, status: 'pending', waitsFor: 'backoff', scheduledAt: one!.nextAttemptAt });
    expect(await lease(webhook, { waitSeconds: 0 })).toEqual([]);
    await service.database.query('update webhook_service.deliveries set scheduled_at = now() where id = $1', [two!.id]);
    const second = await leaseOne(webhook);
    expect([second.deliveryId, second.headers['x-service-attempt']]).toEqual([two!.id, '2']);
    await dataOf(api.acknowledge(webhook.id, { failed: [{ leaseId: second.leaseId }] }));
    const rows = await deliveriesOf(api, webhook, event);
    expect(rows.map(({ status, nextAttemptAt }) => [status, nextAttemptAt !== null])).toEqual([
      ['failed', true],
      ['failed', false],
    ]);
    expect(await dataOf(api.readWebhook(webhook.id))).toMatchObject({
      active: true,
      consecutiveFailures: 1,
      disablesAt: null,
    });
  });

  it('settles a lease that nobody acknowledges as a timeout, within two seconds of its end', async () => {
    const webhook = await create();
    const event = await publish(api, 'job.completed');
    const message = await leaseOne(webhook, { leaseSeconds: 10 });
    const [timedOut, retry] = await waitFor(
      async () => {
        const rows = await deliveriesOf(api, webhook, event);
        return rows.length === 2 && rows;
      },
      { what: 'the end of the lease' },
    );
    expect(timedOut).toMatchObject({
      status: 'failed',
      error: { code: 'timeout', message: expect.stringContaining('10 s') },
    });
    const lateMs = Date.parse(timedOut!.completedAt!) - Date.parse(message.expiresAt);
    expect(lateMs).toBeGreaterThanOrEqual(0);
    // eslint-disable-next-line no-restricted-syntax -- ten times the promise of docs/pulling.md; nothing else would end the lease
    expect(lateMs).toBeLessThan(20_000);
    expect(await dataOf(api.acknowledge(webhook.id, { succeeded: [message.leaseId] }))).toMatchObject({
      ...{ succeeded: [], expired: [message.leaseId] },
    });
    const again = await leaseOne(webhook);
    expect(again.deliveryId).toBe(retry!.id);
    await dataOf(api.acknowledge(webhook.id, { succeeded: [again.leaseId] }));
    expect((await settledDeliveries(api, webhook, event)).map(({ status }) => status)).toEqual(['failed', 'succeeded']);
  });

  it('settles a lease once, however many requests acknowledge it, and rejects foreign and invented leases', async () => {
    const [webhook, other] = [await create(), await create()];
    await publish(api, 'job.completed');
    const [message, foreign] = [await leaseOne(webhook), await leaseOne(other)];
    const { leaseId } = message;
    const madeUp = [`${message.deliveryId}.${'0'.repeat(32)}`, `${UNKNOWN_ID}.${'0'.repeat(32)}`, 'nonsense', ''];
    const unknown = [foreign.leaseId, ...madeUp];
    expect(await dataOf(api.acknowledge(webhook.id, { succeeded: unknown }))).toEqual({
      ...{ succeeded: [], failed: [], expired: unknown },
    });
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        dataOf(api.acknowledge(webhook.id, i % 2 ? { succeeded: [leaseId] } : { failed: [{ leaseId }] })),
      ),
    );
    expect(all.filter(({ expired }) => expired.length === 0)).toHaveLength(1);
    const stranger = await service.apiFor(`user-${randomUUID()}`, SCOPES);
    await errorOf(stranger.lease(other.id), 'not_found');
    await errorOf(stranger.acknowledge(other.id, { succeeded: [foreign.leaseId] }), 'not_found');
    await dataOf(api.acknowledge(other.id, { succeeded: [foreign.leaseId] }));
  });

  it('counts an acknowledgement or the end of the lease, when both come at the same moment', async () => {
    const webhook = await create();
    for (let i = 0; i < 40; i++) await publish(api, 'job.completed');
    const messages: Message[] = [];
    while (messages.length < 40) messages.push(...(await lease(webhook, { limit: 40 })));
    const end = `update webhook_service.deliveries set leased_until = now() where webhook_id = $1`;
    await service.database.query(end, [webhook.id]);
    const counted = new Set<string>();
    for (const { leaseId, deliveryId } of messages) {
      const { succeeded } = await dataOf(api.acknowledge(webhook.id, { succeeded: [leaseId] }));
      if (succeeded.length > 0) counted.add(deliveryId);
    }
    const first = { trigger: 'event', limit: 250 };
    const rows = await waitFor(
      async () => {
        const { rows } = await pageOf(api.listDeliveries(webhook.id, first));
        const leased = rows.filter(({ attempt }) => attempt === 1);
        return leased.every(({ status }) => status !== 'pending') && leased;
      },
      { what: 'all outcomes' },
    );
    const outcomes = rows.map(({ id, status, error }) => [id, `${status} ${error?.code ?? ''}`]);
    expect(Object.fromEntries(outcomes)).toEqual(
      Object.fromEntries(
        messages.map(({ deliveryId }) => [deliveryId, counted.has(deliveryId) ? 'succeeded ' : 'failed timeout']),
      ),
    );
  });

  it('leases nothing twice at a time, oldest due first', async () => {
    const webhook = await create();
    const events = [];
    for (let i = 0; i < 30; i++) events.push(await publish(api, 'job.completed'));
    await waitFor(async () => (await dataOf(api.listWebhooks({ include: 'stats' })))[0]!.stats!.pending === 30, {
      what: 'all rows',
    });
    const begin = await lease(webhook, { limit: 3 });
    expect(begin.map(({ headers }) => headers['webhook-id'])).toEqual(events.slice(0, 3).map(({ id }) => id));
    const rest = await Promise.all(Array.from({ length: 10 }, () => lease(webhook, { limit: 5, waitSeconds: 0 })));
    const ids = [...begin, ...rest.flat()].map(({ deliveryId }) => deliveryId);
    const left = await lease(webhook, { limit: 100, waitSeconds: 0 });
    const all = [...ids, ...left.map(({ deliveryId }) => deliveryId)];
    expect([all.length, new Set(all).size]).toEqual([30, 30]);
  });

  it('waits for a message, ten times a webhook and twenty times a user', async () => {
    const [one, two, three] = [await create(), await create(), await create()];
    const wait = (webhook: CreatedWebhook) => api.lease(webhook.id, { waitSeconds: 20 });
    const waiting = Array.from({ length: 11 }, () => wait(one!));
    const refused = await Promise.race(waiting);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1']);
    waiting.push(...Array.from({ length: 10 }, () => wait(two!)));
    await waitFor(async () => (await dataOf(api.readWebhook(two!.id))).lastLeasedAt !== null, { what: 'consumers' });
    waiting.push(...Array.from({ length: 3 }, () => wait(three!)));
    const replies = Promise.all(waiting);
    // Requests that wait for changes have limits of their own.
    await dataOf(api.listAllDeliveries({ changedAfter: 'now', waitSeconds: 1 }));
    for (let i = 0; i < 20; i++) await publish(api, 'job.completed');
    const firsts = waiting.map(async (reply) => {
      if (!(await reply).success) throw new Error('refused');
    });
    await Promise.any(firsts);
    // The others need not wait on.
    await deleteWebhooks(api);
    const statuses = (await replies).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    const leased = (await replies).flatMap((reply) => (reply.success ? reply.data : []));
    expect(new Set(leased.map(({ deliveryId }) => deliveryId)).size).toBe(leased.length);
    expect(leased.length).toBeGreaterThan(0);
  });

  it('gives nothing to a client that has gone, to a revoked token, or of a deleted webhook', async () => {
    const webhook = await create();
    const deleted = await create();
    const gone = new AbortController();
    const left = api.lease(deleted.id, { waitSeconds: 20 });
    const aborted = api.lease(webhook.id, { waitSeconds: 20 }, { signal: gone.signal }).catch(() => 'gone');
    const { token, id } = await dataOf(
      service.api.createToken({ name: 'consumer', userId: (await dataOf(api.me())).userId, scopes: ['messages:pull'] }),
      201,
    );
    const revoked = api.withToken(token).lease(webhook.id, { waitSeconds: 20 });
    await waitFor(async () => (await dataOf(api.readWebhook(webhook.id))).lastLeasedAt !== null, { what: 'consumers' });
    gone.abort();
    await dataOf(api.deleteWebhook(deleted.id));
    await errorOf(left, 'not_found');
    await dataOf(service.api.revokeToken(id));
    await errorOf(revoked, 'unauthenticated');
    expect(await aborted).toBe('gone');
    await publish(api, 'job.completed');
    expect((await leaseOne(webhook)).headers['x-service-attempt']).toBe('1');
  });

  it('sends a redelivery and what it has missed to consumers', async () => {
    const webhook = await create({ retryDelaysMs: [] });
    const event = await publish(api, 'job.completed');
    const first = await leaseOne(webhook);
    await dataOf(api.acknowledge(webhook.id, { failed: [{ leaseId: first.leaseId }] }));
    const again = await dataOf(api.redeliver(webhook.id, first.deliveryId), 202);
    expect(again).toMatchObject({ status: 'pending', waitsFor: 'consumer', url: null });
    await errorOf(api.redeliver(webhook.id, again.id), 'delivery_pending');
    const second = await leaseOne(webhook);
    expect([second.deliveryId, second.headers['x-service-trigger'], second.body]).toEqual([
      again.id,
      'redelivery',
      first.body,
    ]);
    await errorOf(api.redeliver(webhook.id, again.id), 'delivery_pending');
    await dataOf(api.acknowledge(webhook.id, { failed: [{ leaseId: second.leaseId }] }));
    const recovery = await dataOf(api.recover(webhook.id, { since: event.createdAt }), 202);
    const third = await leaseOne(webhook);
    expect(third.headers['webhook-id']).toBe(event.id);
    await dataOf(api.acknowledge(webhook.id, { succeeded: [third.leaseId] }));
    await waitFor(async () => (await dataOf(api.readRecovery(webhook.id, recovery.id))).status === 'done', {
      what: 'the recovery',
    });
  });

  it('makes a retry due when its owner asks, and filters as every webhook', async () => {
    const webhook = await create({ retryDelaysMs: [60_000], filter: { 'data.jobId': '17' } });
    await publish(api, 'job.completed');
    const first = await leaseOne(webhook);
    await dataOf(api.acknowledge(webhook.id, { failed: [{ leaseId: first.leaseId }] }));
    const { rows } = { rows: await dataOf(api.listDeliveries(webhook.id, { status: ['pending'] })) };
    expect(rows[0]).toMatchObject({ attempt: 2, waitsFor: 'backoff' });
    const due = await dataOf(api.redeliver(webhook.id, rows[0]!.id));
    expect(due).toMatchObject({ id: rows[0]!.id, attempt: 2, waitsFor: 'consumer' });
    expect((await leaseOne(webhook)).deliveryId).toBe(due.id);
    await dataOf(api.updateWebhook(webhook.id, { filter: { 'data.jobId': 'none' } }));
    const event = await publish(api, 'job.completed');
    await waitFor(async () => (await dataOf(api.readEvent(event.id))).fannedOutAt !== null, { what: 'its fan-out' });
    expect(await deliveriesOf(api, webhook, event)).toEqual([]);
  });

  it('cancels what waits and what is leased when it is deactivated', async () => {
    const webhook = await create();
    const [one, two] = [await publish(api, 'job.completed'), await publish(api, 'job.completed')];
    const message = await leaseOne(webhook, { limit: 1 });
    await dataOf(api.updateWebhook(webhook.id, { active: false }));
    const acknowledged = await dataOf(api.acknowledge(webhook.id, { succeeded: [message.leaseId] }));
    expect(acknowledged).toMatchObject({ succeeded: [], expired: [message.leaseId] });
    for (const event of [one, two])
      expect(await settledDeliveries(api, webhook, event)).toMatchObject([
        { status: 'canceled', error: { code: 'webhook_disabled' } },
      ]);
    expect(await lease(webhook, { waitSeconds: 0 })).toEqual([]);
  });

  it.each(['payload', 'standard', 'cloudevents'])('hands out, signs and logs the format %s', async (format) => {
    const webhook = await create({ format });
    const event = await publish(api, 'job.completed');
    const message = await leaseOne(webhook);
    expect(message).not.toHaveProperty('formatted');
    const preview = await dataOf(
      api.call<{ body: string }>('POST', '/api/format-previews', { body: { format, eventId: event.id } }),
    );
    expect(message.body).toBe(preview.body);
    expect(() => new SvixWebhook(webhook.standardSecret).verify(message.body, message.headers)).not.toThrow();
    const requestOf = async () => (await dataOf(api.readDelivery(webhook.id, message.deliveryId))).request;
    const held = await requestOf();
    expect(held).toMatchObject({ format, body: message.body });
    await dataOf(api.updateWebhook(webhook.id, { format: 'native' }));
    await dataOf(api.acknowledge(webhook.id, { succeeded: [message.leaseId] }));
    expect(await requestOf()).toEqual(held);
  });

  it('can neither be tested nor called, and a push webhook cannot be leased from', async () => {
    const webhook = await create({ externalId: 'consumer' });
    await errorOf(api.testWebhook(webhook.id), 'kind_mismatch');
    const push = await dataOf(api.createWebhook({ url: 'https://example.com/', events: ['*'] }), 201);
    await errorOf(api.lease(push.id), 'kind_mismatch');
    await errorOf(api.acknowledge(push.id, { succeeded: ['a'] }), 'kind_mismatch');
    await errorOf(api.saveWebhook('consumer', { kind: 'push', url: push.url, events: ['*'] }), 'kind_mismatch');
    const saved = await dataOf(api.saveWebhook('consumer', { events: ['*'], idleSeconds: 60 }));
    expect(saved).toMatchObject({ kind: 'pull', url: null, events: ['*'], idleSeconds: 60 });
    for (const refused of [
      api.updateWebhook(webhook.id, { url: push.url }),
      api.updateWebhook(webhook.id, { format: 'slack' }),
      api.createWebhook({ kind: 'pull', events: ['*'], format: 'teams' }),
      api.updateWebhook(push.id, { idleSeconds: 60 }),
      api.createWebhook({ kind: 'pull', url: push.url, events: ['*'] }),
      api.createWebhook({ kind: 'pull', events: ['*'], idleSeconds: 59 }),
      api.createWebhook({ events: ['*'] }),
      api.saveWebhook('new', { events: ['*'] }),
    ])
      await errorOf(refused, 'validation_failed');
  });

  it('is deleted when nobody has leased from it for long, and its owner is told', async () => {
    const owner = await create({ events: ['webhook.disabled'] });
    const [idle, used] = [await create({ idleSeconds: 60 }), await create({ idleSeconds: 60 })];
    await publish(api, 'job.completed');
    const age = `update webhook_service.webhooks set created_at = now() - interval '1 hour', last_leased_at = null
                 where id = any($1)`;
    await lease(used!, { waitSeconds: 0 });
    await service.database.query(`${age} and last_leased_at is null`, [[idle.id, used!.id]]);
    const told = await leaseOne(owner);
    expect(JSON.parse(told.body)).toMatchObject({
      event: 'webhook.disabled',
      data: { webhookId: idle.id, url: null, reason: 'idle', disabledAt: expect.any(String) },
    });
    await errorOf(api.readWebhook(idle.id), 'not_found');
    await errorOf(api.lease(idle.id), 'not_found');
    const { rows } = await pageOf(api.listAllDeliveries({ status: ['canceled'] }));
    expect(rows.map(({ webhookId, error }) => [webhookId, error?.code])).toEqual([[idle.id, 'webhook_deleted']]);
    expect(await dataOf(api.readWebhook(used!.id))).toMatchObject({ idleSeconds: 60 });
  });

  it('needs the scope messages:pull', async () => {
    const webhook = await create();
    const { userId } = await dataOf(api.me());
    const reader = await service.apiFor(userId, ['webhooks:read', 'webhooks:write', 'deliveries:read']);
    await errorOf(reader.lease(webhook.id), 'scope_missing');
    await errorOf(reader.acknowledge(webhook.id, { succeeded: ['a'] }), 'scope_missing');
  });
});
