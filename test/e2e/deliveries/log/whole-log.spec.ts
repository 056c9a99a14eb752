import {
  type Api,
  type CreatedWebhook,
  dataOf,
  type Delivery,
  errorOf,
  pageOf,
  type Query,
} from '../../../support/api';
import { useReceiver } from '../../../support/receiver';
import { freePort, useService } from '../../../support/service';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { deleteWebhooks, deliveriesOf, fannedOut, publish, settledDeliveries, subscribe } from '../../stage/steps';

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

describeOnStores('The log of all webhooks', (store) => {
  const service = useService(() => ({ MAX_RETRIES: '1', RETRY_BASE_DELAY_MS: '20', ...store.settings() }));
  const receiver = useReceiver();
  let bob: Api;
  beforeAll(async () => {
    bob = await service.apiFor('bob');
  });
  afterEach(async () => {
    for (const api of [service.api, bob]) await deleteWebhooks(api);
  });

  const list = async (query: Query = {}, api = service.api): Promise<Delivery[]> =>
    (await pageOf(api.listAllDeliveries({ limit: 250, ...query }))).rows;

  /** Two webhooks of admin's, one of which fails, and one of bob's; with one event for everybody. */
  async function threeWebhooks() {
    const good = await subscribe(service.api, receiver.hook(), ['job.started']);
    const bad = await subscribe(service.api, receiver.hook({ status: 500 }), ['job.started']);
    const foreign = await subscribe(bob, receiver.hook(), ['job.started']);
    const event = await publish(service.api, 'job.started', { userId: null });
    for (const webhook of [good, bad]) await settledDeliveries(service.api, webhook, event);
    await settledDeliveries(bob, foreign, event);
    return { good, bad, foreign, event };
  }

  it("has the rows of all one's webhooks, and of nobody else's", async () => {
    const { good, bad, foreign, event } = await threeWebhooks();
    const own = [good, bad].map((webhook) => deliveriesOf(service.api, webhook, event));
    const expected = idsOf((await Promise.all(own)).flat())
      .sort()
      .reverse();
    expect(idsOf(await list({ eventId: event.id }))).toEqual(expected);
    expect(idsOf(await list({ eventId: event.id }, bob))).toEqual(idsOf(await deliveriesOf(bob, foreign, event)));
    expect(idsOf(await list({ eventId: event.id, status: 'failed', trigger: 'event' }))).toHaveLength(2);
    expect(await list({ eventId: event.id, status: 'failed', event: 'job.completed' })).toEqual([]);
    await dataOf(service.api.deleteWebhook(good.id));
    expect(idsOf(await list({ eventId: event.id }))).toEqual(expected);
  });

  it('can be narrowed like the log of one webhook, by everything at once', async () => {
    const { bad, event } = await threeWebhooks();
    const later = await publish(service.api, 'job.started');
    await settledDeliveries(service.api, bad, later);
    const query = { event: 'job.started', status: 'failed', trigger: 'event' };
    const until = new Date(Date.parse(later.createdAt) + 60_000).toISOString();
    const both = await list({ ...query, since: event.createdAt, until });
    expect(both.map(({ eventId }) => eventId)).toEqual(expect.arrayContaining([event.id, later.id]));
    expect((await list({ ...query, eventId: later.id })).map(({ attempt }) => attempt)).toEqual([2, 1]);
    expect(await list({ ...query, since: until })).toEqual([]);
    expect(await errorOf(service.api.listAllDeliveries({ status: 'lost' }), 400)).toMatch(/status/);
    expect(await errorOf(service.api.listAllDeliveries({ webhookId: bad.id }), 400)).toMatch(/webhookId/);
    const publisher = await service.apiFor('admin', ['events:publish']);
    expect(await errorOf(publisher.listAllDeliveries(), 403)).toContain('deliveries:read');
  });

  it('can be narrowed by what came of it', async () => {
    const answering = receiver.hook({ status: 503 });
    const bad = await subscribe(service.api, answering, ['job.started']);
    const closed = await subscribe(service.api, { url: `http://127.0.0.1:${await freePort()}/` }, ['job.started']);
    const good = await subscribe(service.api, receiver.hook({ status: 204 }), ['job.started']);
    const event = await publish(service.api, 'job.started');
    for (const webhook of [bad, closed, good]) await settledDeliveries(service.api, webhook, event);
    const found = async (query: Query) =>
      (await list({ eventId: event.id, ...query })).map(({ webhookId, attempt }) => [webhookId, attempt]);
    expect(await found({ error: 'http_status' })).toEqual([2, 1].map((attempt) => [bad.id, attempt]));
    expect(await found({ error: 'connection_refused' })).toEqual([2, 1].map((attempt) => [closed.id, attempt]));
    expect(await found({ responseStatus: 'none' })).toEqual(await found({ error: 'connection_refused' }));
    for (const responseStatus of ['503', '5xx']) {
      expect(await found({ responseStatus })).toEqual(await found({ error: 'http_status' }));
    }
    expect(await found({ responseStatus: '2xx' })).toEqual([[good.id, 1]]);
    expect(await found({ responseStatus: '4xx' })).toEqual([]);
    expect(await found({ status: ['failed', 'succeeded', 'failed'] })).toHaveLength(5);
    expect(await found({ status: ['pending', 'succeeded'] })).toEqual([[good.id, 1]]);

    const [givenUp, other] = await list({ eventId: event.id, givenUp: 'true' });
    expect([givenUp!.attempt, other!.attempt]).toEqual([2, 2]);
    expect(await list({ eventId: event.id, givenUp: 'false' })).toEqual(await list({ eventId: event.id }));
    expect(await pageOf(service.api.listDeliveries(bad.id, { givenUp: 'true' }))).toMatchObject({
      rows: [{ attempt: 2 }],
    });
    answering.answer({ status: 200 });
    await dataOf(service.api.redeliver(bad.id, (await list({ eventId: event.id, error: 'http_status' }))[0]!.id), 202);
    await settledDeliveries(service.api, bad, event);
    expect(await found({ givenUp: 'true' })).toEqual([[closed.id, 2]]);
    await dataOf(service.api.testWebhook(closed.id));
    expect((await pageOf(service.api.listDeliveries(closed.id, { givenUp: 'true' }))).rows).toHaveLength(1);
  });

  it('can be narrowed by what became of each event at each webhook', async () => {
    const answering = receiver.hook({ status: 503 });
    const bad = await subscribe(service.api, answering, ['job.started']);
    const good = await subscribe(service.api, receiver.hook(), ['job.started']);
    const event = await publish(service.api, 'job.started');
    for (const webhook of [bad, good]) await settledDeliveries(service.api, webhook, event);
    const found = async (state: string | string[], query: Query = {}) =>
      (await list({ eventId: event.id, state, ...query })).map(({ webhookId, attempt }) => [webhookId, attempt]);
    expect(await found('delivered')).toEqual([[good.id, 1]]);
    // Of the failed deliveries only the last, and only while no later one exists.
    expect(await found('gave_up')).toEqual([[bad.id, 2]]);
    expect(await found(['gave_up', 'delivered'])).toHaveLength(2);
    for (const [query, count] of [
      [{}, 3],
      [{ state: ['gave_up', 'delivered'] }, 2],
      [{ status: 'failed' }, 2],
    ] as const) {
      const counted = await dataOf(service.api.countDeliveries({ eventId: event.id, ...query } as Query));
      expect(counted).toEqual({ count, atLeast: false });
    }
    expect(await errorOf(service.api.countDeliveries({ state: 'waiting', status: 'failed' }), 400)).toMatch(/state/);
    expect(await dataOf(bob.countDeliveries({ eventId: event.id }))).toEqual({ count: 0, atLeast: false });
    for (const state of ['waiting', 'retrying', 'canceled']) expect(await found(state)).toEqual([]);
    expect(await found('gave_up', { error: 'http_status', trigger: 'event' })).toEqual([[bad.id, 2]]);
    expect(await found('gave_up', { responseStatus: '2xx' })).toEqual([]);
    await dataOf(service.api.testWebhook(bad.id));
    expect(await found('gave_up')).toEqual([[bad.id, 2]]);

    let answer: () => void = () => undefined;
    answering.answer({ status: 200, after: new Promise<void>((resolve) => (answer = resolve)) });
    const [last] = await list({ eventId: event.id, state: 'gave_up' });
    await dataOf(service.api.redeliver(bad.id, last!.id), 202);
    expect(await found('gave_up')).toEqual([]);
    expect(await found('waiting')).toEqual([[bad.id, 1]]);
    answer();
    await settledDeliveries(service.api, bad, event);
    expect(await found('delivered')).toEqual(
      expect.arrayContaining([
        [bad.id, 1],
        [good.id, 1],
      ]),
    );
    expect((await pageOf(service.api.listDeliveries(bad.id, { state: 'delivered' }))).rows).toMatchObject([
      { trigger: 'redelivery' },
    ]);
  });

  it.each<[string, Query]>([
    ['status', { status: 'failed' }],
    ['givenUp', { givenUp: 'true' }],
    ['changedAfter', { changedAfter: 'now' }],
  ])('refuses state together with %s', async (_, query) => {
    expect(await errorOf(service.api.listAllDeliveries({ state: 'delivered', ...query }), 400)).toMatch(/state cannot/);
  });

  it.each([
    ['error', 'bad_luck'],
    ['state', 'lost'],
    ['responseStatus', '6xx'],
    ['responseStatus', '099'],
    ['givenUp', 'perhaps'],
    ['status', ['failed', 'lost']],
  ])('refuses %s=%s', async (name, value) => {
    expect(await errorOf(service.api.listAllDeliveries({ [name]: value }), 400)).toMatch(
      new RegExp(`^${name} must be`),
    );
  });

  it('takes a cursor for its own user, route and filters only', async () => {
    const { good, event } = await threeWebhooks();
    const { nextCursor } = await pageOf(service.api.listAllDeliveries({ limit: 1, eventId: event.id }));
    const cursor = nextCursor!;
    expect(await list({ limit: 1, eventId: event.id, cursor })).toHaveLength(1);
    const elsewhere = [
      service.api.listAllDeliveries({ cursor }),
      service.api.listAllDeliveries({ cursor, eventId: event.id, status: 'failed' }),
      service.api.listAllDeliveries({ cursor, eventId: event.id, since: event.createdAt }),
      service.api.listDeliveries(good.id, { cursor, eventId: event.id }),
      service.api.listEvents({ cursor }),
      bob.listAllDeliveries({ cursor, eventId: event.id }),
    ];
    for (const reply of elsewhere) expect(await errorOf(reply, 400)).toMatch(/cursor/);
  });

  it('is read page by page, filtered, while others write: nothing is skipped, nothing comes twice', async () => {
    const webhooks: CreatedWebhook[] = [];
    for (let i = 0; i < 3; i++) webhooks.push(await subscribe(service.api, receiver.hook(), ['job.*']));
    const send = async (count: number) => {
      const published = [];
      for (let i = 0; i < count; i++) published.push(publish(service.api, i % 2 ? 'job.started' : 'job.completed'));
      return Promise.all(published);
    };
    for (const event of await send(20)) {
      for (const webhook of webhooks) await settledDeliveries(service.api, webhook, event);
    }
    const query = { status: 'succeeded', event: 'job.started', trigger: 'event' };
    const before = idsOf(await list(query));
    let reading = true;
    const writing = (async () => {
      while (reading) await send(4);
    })();
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page: { rows: Delivery[]; nextCursor: string | null } = await pageOf(
        service.api.listAllDeliveries({ ...query, limit: 3, cursor: cursor ?? undefined }),
      );
      seen.push(...idsOf(page.rows));
      cursor = page.nextCursor;
    } while (cursor);
    reading = false;
    await writing;
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => before.includes(id))).toEqual(before);
    const came = async () => (await list(query)).length > before.length;
    await waitFor(came, { what: 'a row that came meanwhile' });
  });

  it("shows in an event's own record to whom it went, each attempt, and what happens next and when", async () => {
    const slow = receiver.hook({ status: 503, headers: { 'retry-after': '600' } });
    const good = await subscribe(service.api, receiver.hook(), ['job.started']);
    const bad = await subscribe(service.api, slow, ['job.started']);
    const event = await publish(service.api, 'job.started');
    await fannedOut(service.api, event);
    await settledDeliveries(service.api, good, event);
    await waitFor(async () => (await deliveriesOf(service.api, bad, event))[1], { what: 'the next attempt' });
    const { deliveries } = await dataOf(service.api.readEvent(event.id));
    const of = (webhook: CreatedWebhook) => deliveries.filter(({ webhookId }) => webhookId === webhook.id).reverse();
    expect(of(good)).toMatchObject([{ attempt: 1, status: 'succeeded', responseStatus: 200, nextAttemptAt: null }]);
    const [failed, next] = of(bad);
    expect([failed, next]).toMatchObject([
      { attempt: 1, status: 'failed', responseStatus: 503, error: { code: 'http_status' } },
      { attempt: 2, status: 'pending', scheduledAt: failed!.nextAttemptAt },
    ]);
    expect(Date.parse(next!.scheduledAt) - Date.parse(failed!.completedAt!)).toBeGreaterThan(590_000);
  });
});
