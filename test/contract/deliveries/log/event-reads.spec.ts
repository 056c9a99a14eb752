import { allPagesOf, type Api, dataOf, errorOf, pageOf } from '../../../support/api';
import { useReceiver } from '../../../support/receiver';
import { useService } from '../../../support/service';
import { waitFor } from '../../../support/wait-for';
import { EVENT_NAMES, EXAMPLES, ISO_UTC, UNKNOWN_ID } from '../../../e2e/stage/examples';
import {
  deleteWebhooks,
  deliveriesOf,
  fannedOut,
  publish,
  settledDeliveries,
  subscribe,
} from '../../../e2e/stage/steps';

describe('Reading events', () => {
  const service = useService();
  const receiver = useReceiver();
  let alice: Api;
  let bob: Api;

  beforeAll(async () => {
    [alice, bob] = await Promise.all([service.apiFor('alice'), service.apiFor('bob')]);
  });

  afterEach(async () => {
    for (const api of [alice, bob, service.api]) await deleteWebhooks(api);
  });

  const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

  it('shows one with its data and its deliveries', async () => {
    const webhook = await subscribe(alice, receiver.hook(), ['job.started']);
    const { duplicate: _duplicate, ...event } = await publish(alice, 'job.started');
    const rows = await settledDeliveries(alice, webhook, event);
    await fannedOut(alice, event);
    expect(await dataOf(alice.readEvent(event.id))).toEqual({
      ...event,
      subject: null,
      publishedBy: 'alice',
      traceparent: null,
      data: EXAMPLES['job.started'],
      fannedOutAt: expect.stringMatching(ISO_UTC),
      deliveries: rows,
    });
  });

  it('lists them newest first, with the same fields but without deliveries', async () => {
    const published = [];
    for (const name of EVENT_NAMES) published.unshift(await publish(alice, name));
    const { rows } = await pageOf(alice.listEvents({ limit: EVENT_NAMES.length }));
    expect(idsOf(rows)).toEqual(idsOf(published));
    await fannedOut(alice, published[0]!);
    const [newest] = (await pageOf(alice.listEvents({ limit: 1 }))).rows;
    const { deliveries: _deliveries, ...read } = await dataOf(alice.readEvent(published[0]!.id));
    expect(newest).toEqual(read);
  });

  it('can be narrowed by name and by time, in any offset', async () => {
    const before = await publish(alice, 'job.started');
    const answeredAt = Date.now();
    await waitFor(() => Date.now() > answeredAt + 20, { what: 'a later moment', everyMs: 1 });
    const [after, other] = [await publish(alice, 'job.started'), await publish(alice, 'job.completed')];
    // By the clock of the service, which may differ from that of the test.
    const boundary = Date.parse(after.createdAt);
    expect(boundary).toBeGreaterThan(Date.parse(before.createdAt));
    const inTokyo = new Date(boundary + 9 * 3_600_000).toISOString().replace('Z', '+09:00');
    const list = async (query: Record<string, string>) => idsOf((await pageOf(alice.listEvents(query))).rows);
    expect(await list({ since: inTokyo })).toEqual([other.id, after.id]);
    expect(await list({ since: inTokyo, event: 'job.started' })).toEqual([after.id]);
    const until = await list({ until: inTokyo });
    expect(until).toContain(before.id);
    expect(until).not.toContain(after.id);
    expect(await list({ since: inTokyo, until: inTokyo })).toEqual([]);
  });

  it('goes page by page without skipping or repeating one while others come', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await publish(bob, 'follower.lost')).id);
    const query = { event: 'follower.lost', limit: 2 };
    const first = await pageOf(bob.listEvents(query));
    await publish(bob, 'follower.lost');
    const rest = await allPagesOf(bob.listEvents, query, first.nextCursor!);
    expect([...idsOf(first.rows), ...idsOf(rest.flat())].slice(0, 5)).toEqual(ids);
  });

  it.each(['limit=0', 'cursor=x', 'since=yesterday', 'until=2026-13-01'])('refuses %s', async (pair) => {
    const [name = '', value] = pair.split('=');
    expect(await errorOf(alice.listEvents({ [name]: value }), 400)).toContain(name);
  });

  it('shows an event only to its user and its publisher', async () => {
    const event = await publish(service.api, 'operation.failed', { userId: 'alice' });
    for (const api of [service.api, alice]) {
      expect(await dataOf(api.readEvent(event.id))).toMatchObject({ id: event.id, userId: 'alice' });
      expect(idsOf((await pageOf(api.listEvents({ event: 'operation.failed' }))).rows)).toContain(event.id);
    }
    expect(await errorOf(bob.readEvent(event.id), 404)).toBe(await errorOf(bob.readEvent(UNKNOWN_ID), 404));
    expect((await pageOf(bob.listEvents({ event: 'operation.failed' }))).rows).toEqual([]);
  });

  it('shows an event for all users to the owners of webhooks that received it, each with their own deliveries', async () => {
    const webhook = await subscribe(alice, receiver.hook(), ['operation.complete']);
    await subscribe(service.api, receiver.hook(), ['operation.complete']);
    const event = await publish(service.api, 'operation.complete', { userId: null });
    await fannedOut(service.api, event);
    const seen = await dataOf(alice.readEvent(event.id));
    // Who published it is told to its publisher.
    expect(seen).toMatchObject({ id: event.id, userId: null, publishedBy: null, traceparent: null });
    expect(await dataOf(service.api.readEvent(event.id))).toMatchObject({ publishedBy: 'admin' });
    expect(idsOf(seen.deliveries)).toEqual(idsOf(await deliveriesOf(alice, webhook, event)));
    expect(seen.deliveries).toHaveLength(1);
    expect(idsOf((await pageOf(alice.listEvents({ event: 'operation.complete' }))).rows)).toContain(event.id);
    await errorOf(bob.readEvent(event.id), 404);
    expect((await pageOf(bob.listEvents({ event: 'operation.complete' }))).rows).toEqual([]);
  });

  it('refuses an id that is no UUID', async () => {
    await errorOf(alice.readEvent('not-a-uuid'), 400);
  });
});

describe('The event types', () => {
  const service = useService();

  it('are the six of the contract and those of the service itself, each described', async () => {
    const types = await dataOf(service.api.eventTypes());
    const names = types.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...EVENT_NAMES, 'webhook.disabled']));
    expect(names.filter((name) => !name.startsWith('webhook.')).sort()).toEqual([...EVENT_NAMES].sort());
    for (const type of types) {
      expect(type).toEqual({
        name: expect.any(String),
        description: expect.stringMatching(/\w+ \w+/),
        schema: expect.objectContaining({ type: 'object', required: expect.any(Array) }),
        example: expect.any(Object),
        source: 'builtin',
        application: null,
      });
    }
  });

  it('have examples that can be published as they are', async () => {
    const types = await dataOf(service.api.eventTypes());
    for (const { name, example } of types.filter((type) => !type.name.startsWith('webhook.'))) {
      expect(await dataOf(service.api.publish({ event: name, data: example }), 202)).toMatchObject({ event: name });
    }
  });
});
