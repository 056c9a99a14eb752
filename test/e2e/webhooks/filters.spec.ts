import { type Api, dataOf, errorOf, pageOf, type PublishedEvent, type Reply } from '../../support/api';
import { type Hook, useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { UNKNOWN_ID } from '../stage/examples';
import { deleteWebhooks, deliveriesOf, fannedOut, settledDeliveries, subscribe } from '../stage/steps';

const LARGE = { amountCents: 2000, padding: 'x'.repeat(70_000) };

describeOnStores('A filter', (store) => {
  const service = useService(() => ({ EXTRA_EVENT_TYPES: 'order.paid', MAX_RETRIES: '0', ...store.settings() }));
  const receiver = useReceiver();
  let api: Api;
  let broadcaster: Api;

  beforeAll(async () => {
    api = service.api;
    broadcaster = service.api.withToken(await service.createToken('shop', ['events:publish', 'events:broadcast']));
  });
  afterEach(() => deleteWebhooks(api));

  const filtered = (hook: Hook, filter: object | null) => subscribe(api, hook, ['order.paid'], { filter });
  const publish = (data: object, from = api, more = {}): Promise<PublishedEvent> =>
    dataOf(from.publish({ event: 'order.paid', data, ...more }), 202);
  const idsAt = (hook: Hook) => hook.calls.map(({ headers }) => headers['webhook-id']);
  const fieldsOf = async (reply: Promise<Reply<unknown>>) => {
    const refused = await reply;
    return refused.success || refused.details!.map(({ field }) => field);
  };

  it('lets through only events whose stored data fulfill it, whatever other webhooks get', async () => {
    const [large, unfiltered, byText] = [receiver.hook(), receiver.hook(), receiver.hook()];
    await filtered(large, { 'data.amountCents': { gte: 1000 }, 'data.test': { exists: false } });
    await filtered(byText, { 'data.id': '9007199254740993' });
    await filtered(unfiltered, null);
    const small = await publish({ amountCents: 999 });
    const text = await publish({ amountCents: '1000', id: '9007199254740993' });
    const test = await publish({ amountCents: 1000, test: null, id: '9007199254740992' });
    const paid = await publish({ amountCents: 1000, id: 9007199254740991 });
    await unfiltered.received(4);
    for (const event of [small, text, test, paid]) await fannedOut(api, event);
    await large.received(1);
    await byText.received(1);
    expect([idsAt(large), idsAt(byText)]).toEqual([[paid.id], [text.id]]);
  });

  it('leaves an event without deliveries when it drops it for all webhooks', async () => {
    const hook = receiver.hook();
    const [one, other] = [await filtered(hook, { 'data.a': 1 }), await filtered(hook, { 'data.a': 2 })];
    const event = await publish({ a: 3 });
    await fannedOut(api, event);
    expect((await dataOf(api.readEvent(event.id))).deliveries).toEqual([]);
    for (const webhook of [one, other]) expect(await deliveriesOf(api, webhook, event)).toEqual([]);
    const next = await publish({ a: 2 });
    expect(await settledDeliveries(api, other, next)).toMatchObject([{ status: 'succeeded' }]);
    expect(idsAt(hook)).toEqual([next.id]);
  });

  it('is applied to bodies that are too large to be held in memory', async () => {
    const [matching, dropping] = [receiver.hook(), receiver.hook()];
    await filtered(dropping, { 'data.amountCents': { gt: 2000 } });
    const webhook = await filtered(matching, { 'data.amountCents': { lte: 2000 } });
    const event = await publish(LARGE);
    expect(await settledDeliveries(api, webhook, event)).toMatchObject([{ status: 'succeeded' }]);
    await fannedOut(api, event);
    expect([idsAt(matching), idsAt(dropping)]).toEqual([[event.id], []]);
  });

  it('sees the user of an event, and null for all users', async () => {
    const [own, everybody] = [receiver.hook(), receiver.hook()];
    await filtered(own, { userId: (await dataOf(api.me())).userId });
    await filtered(everybody, { userId: null, event: { prefix: 'order.' } });
    const mine = await publish({});
    const broadcast = await publish({}, broadcaster, { userId: null });
    await own.received(1);
    await everybody.received(1);
    await fannedOut(api, mine);
    expect([idsAt(own), idsAt(everybody)]).toEqual([[mine.id], [broadcast.id]]);
  });

  it('holds from the moment of its PATCH, and for new events only', async () => {
    const hook = receiver.hook();
    const webhook = await filtered(hook, { 'data.n': -1 });
    const wanted: string[] = [];
    for (let n = 0; n < 20; n++) {
      await dataOf(api.updateWebhook(webhook.id, { filter: { 'data.n': n } }));
      const [matching, dropped] = [await publish({ n }), await publish({ n: n + 1 })];
      for (const event of [matching, dropped]) await fannedOut(api, event);
      wanted.push(matching.id);
    }
    await hook.received(20);
    hook.answer({ status: 500 });
    await dataOf(api.updateWebhook(webhook.id, { filter: null }));
    const last = await publish({ n: 'last' });
    await settledDeliveries(api, webhook, last);
    await dataOf(api.updateWebhook(webhook.id, { filter: { 'data.n': 0 } }));
    expect(idsAt(hook).sort()).toEqual([...wanted, last.id].sort());
    expect(await deliveriesOf(api, webhook, last)).toHaveLength(1);
  });

  it('may change while events are fanned out: what all versions agree on is lost nowhere, and let through nowhere', async () => {
    const [hook, all] = [receiver.hook(), receiver.hook()];
    const version = (n: number) => ({ 'data.even': true, 'data.n': { gte: -n } });
    const webhook = await filtered(hook, version(0));
    await filtered(all, null);
    const publishing = Array.from({ length: 60 }, (_, n) => publish({ n, even: n % 2 === 0 }));
    for (let n = 1; n <= 10; n++) await dataOf(api.updateWebhook(webhook.id, { filter: version(n) }));
    const events = await Promise.all(publishing);
    for (const event of events) await fannedOut(api, event);
    await all.received(60);
    const even = await hook.received(30);
    expect(hook.calls).toHaveLength(30);
    const wanted = events.filter((_, n) => n % 2 === 0).map(({ id }) => id);
    expect(even.map(({ headers }) => headers['webhook-id']).sort()).toEqual(wanted.sort());
  });

  it('is kept by other changes, cleared by null, and reset by a PUT without it', async () => {
    const filter = { 'data.a': [1, 'x', null], any: [{ 'data.b': { ne: true } }] };
    const body = { url: 'https://example.com/', events: ['order.paid'] };
    const { id } = await dataOf(api.saveWebhook('filtered', { ...body, filter }), 201);
    const { etag } = (await api.call('GET', `/api/webhooks/${id}`)).headers;
    expect((await dataOf(api.updateWebhook(id, { description: 'x' }))).filter).toEqual(filter);
    expect((await dataOf(api.updateWebhook(id, { filter: null }))).filter).toBeNull();
    expect((await dataOf(api.updateWebhook(id, { filter }))).filter).toEqual(filter);
    expect((await api.call('GET', `/api/webhooks/${id}`)).headers.etag).not.toBe(etag);
    expect((await dataOf(api.saveWebhook('filtered', body))).filter).toBeNull();
  });

  it.each([
    [{}, ['filter']],
    [{ 'data.a': [] }, ['filter["data.a"]']],
    [{ 'data.a': { near: 5 } }, ['filter["data.a"]["near"]']],
    [{ 'body.a': 1, 'data.b': { gt: '5' } }, ['filter["body.a"]', 'filter["data.b"].gt']],
    [{ any: [{ 'data.a': 1, any: [] }] }, ['filter.any[0].any']],
    [JSON.parse('{"constructor":1}'), ['filter["constructor"]']],
    ['data.a', ['filter']],
  ])('%j returns 400 in POST, PATCH and PUT', async (filter, fields) => {
    const body = { url: 'https://example.com/', events: ['order.paid'], filter };
    const { id } = await dataOf(api.createWebhook({ ...body, filter: null }), 201);
    for (const reply of [api.createWebhook(body), api.updateWebhook(id, { filter }), api.saveWebhook('x', body)])
      expect(await fieldsOf(reply)).toEqual(fields);
  });

  it('of now decides what a recovery sends again', async () => {
    const hook = receiver.hook({ status: 500 });
    const webhook = await filtered(hook, null);
    const since = new Date(Date.now() - 60_000).toISOString();
    const events = [await publish({ n: 1 }), await publish({ n: 2 }), await publish({ n: 3 })];
    for (const event of events) await settledDeliveries(api, webhook, event);
    hook.answer({ status: 200 });
    const count = async () => dataOf(api.recover(webhook.id, { since, dryRun: true }));
    expect(await count()).toEqual({ count: 3 });
    await dataOf(api.updateWebhook(webhook.id, { filter: { 'data.n': { gte: 2 } } }));
    expect(await count()).toEqual({ count: 2 });
    expect(await dataOf(api.recover(webhook.id, { since }), 202)).toMatchObject({ count: 2 });
    await hook.received(5);
    expect(idsAt(hook).slice(3).sort()).toEqual(events.slice(1).map(({ id }) => id));
    await dataOf(api.updateWebhook(webhook.id, { filter: { 'data.n': 5 } }));
    expect(await dataOf(api.recover(webhook.id, { since }), 202)).toMatchObject({ count: 0, status: 'done' });
  });

  it('is ignored by a test, which answers whether it would let the event through', async () => {
    const hook = receiver.hook();
    const webhook = await filtered(hook, { 'data.message': { exists: false } });
    expect(await dataOf(api.testWebhook(webhook.id))).toMatchObject({ status: 'succeeded', matchesFilter: false });
    expect(await dataOf(api.testWebhook(webhook.id, { event: 'job.started' }))).toMatchObject({ matchesFilter: true });
    await dataOf(api.updateWebhook(webhook.id, { filter: null }));
    expect(await dataOf(api.testWebhook(webhook.id))).not.toHaveProperty('matchesFilter');
    expect(hook.calls).toHaveLength(3);
  });

  describe('check', () => {
    const filter = { 'data.amountCents': { gte: 1000, lt: 5000 }, 'data.status': ['paid'] };
    const check = (body: object, by = api) => by.call<unknown>('POST', '/api/filter-checks', { body });

    it('says whether an event would match, and what does not hold', async () => {
      const data = { amountCents: 500 };
      expect(await dataOf(check({ filter, event: 'order.paid', data }))).toEqual({
        matches: false,
        failed: [
          { path: 'data.amountCents', operator: 'gte', expected: 1000, found: '500' },
          { path: 'data.status', operator: 'in', expected: ['paid'], found: null },
        ],
      });
      const paid = { amountCents: 1000, status: 'paid' };
      expect(await dataOf(check({ filter, event: 'order.paid', data: paid }))).toEqual({ matches: true, failed: [] });
      expect(await dataOf(check({ filter: null, event: 'order.paid', data }))).toEqual({ matches: true, failed: [] });
      expect(await dataOf(check({ filter: { 'data.padding': 'x' }, event: 'order.paid', data: LARGE }))).toMatchObject({
        failed: [{ found: expect.stringMatching(/^"x{254}…$/) }],
      });
    });

    it('reads a stored event, also one that a filter has dropped', async () => {
      const hook = receiver.hook();
      const before = await publish({ amountCents: 1 }, broadcaster, { userId: null });
      await filtered(hook, filter);
      const [mine, broadcast] = [
        await publish({ amountCents: 500 }),
        await publish({ amountCents: 600 }, broadcaster, { userId: null }),
      ];
      for (const [{ id }, found] of [
        [mine, '500'],
        [broadcast, '600'],
      ] as const)
        expect(await dataOf(check({ filter, eventId: id }))).toMatchObject({ matches: false, failed: [{ found }, {}] });
      await errorOf(check({ filter, eventId: before.id }), 404);
    });

    it('shows no event of others, nor one that no webhook of the user subscribes to', async () => {
      const foreign = await publish({ amountCents: 1 }, broadcaster);
      await subscribe(api, receiver.hook(), ['job.*'], { filter });
      const broadcast = await publish({ amountCents: 1 }, broadcaster, { userId: null });
      for (const eventId of [foreign.id, broadcast.id, UNKNOWN_ID]) await errorOf(check({ filter, eventId }), 404);
    });

    it('shows no event for everybody that no filter has dropped, like the other routes', async () => {
      const toAll = () => publish({ amountCents: 1 }, broadcaster, { userId: null });
      const beforeAnything = await toAll();
      const webhook = await subscribe(api, receiver.hook(), ['job.*'], { filter });
      const beforeSubscription = await toAll();
      await dataOf(api.updateWebhook(webhook.id, { events: ['order.*'] }));
      await dataOf(api.updateWebhook(webhook.id, { active: false }));
      const whileInactive = await toAll();
      await dataOf(api.updateWebhook(webhook.id, { active: true }));
      for (const { id: eventId } of [beforeAnything, beforeSubscription, whileInactive]) {
        const refused = await errorOf(api.readEvent(eventId), 404);
        expect(await errorOf(check({ filter, eventId }), 404)).toBe(refused);
        expect(
          await errorOf(api.call('POST', '/api/format-previews', { body: { format: 'slack', eventId } }), 404),
        ).toBe(refused);
      }
      const dropped = await toAll();
      await dataOf(api.updateWebhook(webhook.id, { filter: { 'data.amountCents': 5 }, description: 'Stricter' }));
      expect(await dataOf(check({ filter, eventId: dropped.id }))).toMatchObject({ matches: false });
    });

    it('needs webhooks:read, and deliveries:read for a stored event', async () => {
      const reader = api.withToken(await service.createToken('reader', ['webhooks:read']));
      expect((await check({ filter, event: 'order.paid', data: {} }, reader)).status).toBe(200);
      expect(await errorOf(check({ filter, eventId: UNKNOWN_ID }, reader), 403)).toContain('deliveries:read');
      const other = api.withToken(await service.createToken('reader', ['deliveries:read']));
      await errorOf(check({ filter, event: 'order.paid', data: {} }, other), 403);
    });

    it('lists all errors of its body at once', async () => {
      expect(await fieldsOf(check({ filter: { 'data.a': {} }, data: 1, userId: 'x' }))).toEqual([
        ...['userId', 'filter["data.a"]', 'event', 'data'],
      ]);
      expect(await fieldsOf(check({ filter, eventId: 'x' }))).toEqual(['eventId']);
    });
  });

  it('appears in no list as anything but itself', async () => {
    const filter = { 'data.a': 1 };
    await filtered(receiver.hook(), filter);
    expect((await pageOf(api.listWebhooks())).rows).toMatchObject([{ filter }]);
  });
});
