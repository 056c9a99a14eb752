import { dataOf, errorOf, pageOf } from '../../support/api';
import { openTransaction } from '../../support/open-transaction';
import { useReceiver } from '../../support/receiver';
import { startService, useService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { EXAMPLES, ISO_UTC, UUID_V7 } from '../stage/examples';
import { deleteWebhooks, subscribe } from '../stage/steps';

const one = { event: 'job.started', data: EXAMPLES['job.started'] };
const other = { event: 'job.completed', data: EXAMPLES['job.completed'] };
const numbered = (attempt: number) => ({ ...one, data: { ...one.data, attempt } });

describeOnStores('Publishing a batch', (store) => {
  const service = useService(() => ({ EVENT_MAX_BYTES: '4096', ...store.settings() }));
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));
  let keys = 0;
  const newKey = () => `key-${++keys}`;
  const publish = (...events: unknown[]) => service.api.publishBatch({ events });
  const eventIds = async () => (await pageOf(service.api.listEvents({ limit: 250 }))).rows.map(({ id }) => id);

  it('accepts a hundred events, answers each in order, and delivers each once', async () => {
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['job.*']);
    const events = Array.from({ length: 100 }, (_, i) => numbered(i));
    const records = await dataOf(publish(...events), 202);
    expect(records).toEqual(
      events.map(() => ({
        id: expect.stringMatching(UUID_V7),
        event: 'job.started',
        createdAt: expect.stringMatching(ISO_UTC),
        userId: 'admin',
        duplicate: false,
      })),
    );
    await hook.received(100);
    const received = new Map(
      hook.calls.map(({ headers, body }) => [headers['webhook-id'], JSON.parse(body.toString())]),
    );
    expect(records.map(({ id }) => received.get(id)?.data.attempt)).toEqual(events.map(({ data }) => data.attempt));
    expect(hook.calls).toHaveLength(100);
  });

  it.each([
    [
      'another event that nobody knows',
      { event: 'no.such_event', data: {} },
      400,
      /^events\[2]: There is no event named .*POST \/api\/event-types/,
    ],
    ['data that does not fit', { ...other, data: {} }, 400, /^events\[2]\.data must have required property 'jobId'/],
    ['a reserved name', { event: 'webhook.disabled', data: {} }, 400, /^events\[2]: webhook\.disabled is reserved/],
    ['an unknown field', { ...other, name: 'x' }, 400, /^events\[2]\.name is not a known field/],
    ['what is no object', 'job.started', 400, /^events\[2]: /],
    ['a bad key', { ...other, idempotencyKey: '' }, 400, /^events\[2]\.idempotencyKey/],
    [
      'too much data',
      { ...other, data: { ...other.data, more: 'x'.repeat(5000) } },
      413,
      /^events\[2]\.data is larger/,
    ],
  ])('is refused as a whole for %s', async (_, faulty, status, message) => {
    const before = await eventIds();
    expect(await errorOf(publish(one, other, faulty, one), status)).toMatch(message);
    expect(await eventIds()).toEqual(before);
  });

  it('names the errors of all its events', async () => {
    const message = await errorOf(publish({ event: 5, data: {} }, one, { ...one, userId: '' }), 400);
    expect(message).toMatch(/^events\[0]\.event must be a string; events\[2]\.userId must be/);
  });

  it('needs events:broadcast for others, and says for which event', async () => {
    const alice = await service.apiFor('alice');
    const events = [one, { ...one, userId: 'alice' }, { ...one, userId: null }];
    expect(await errorOf(alice.publishBatch({ events }), 403)).toMatch(/^events\[2]: .*events:broadcast/);
    const records = await dataOf(service.api.publishBatch({ events }), 202);
    expect(records.map(({ userId }) => userId)).toEqual(['admin', 'alice', null]);
    const reader = await service.apiFor('alice', ['deliveries:read']);
    expect(await errorOf(reader.publishBatch({ events }), 403)).toContain('events:publish');
  });

  it.each([{}, { events: [] }, { events: 'many' }, { events: Array(101).fill(one) }, []])(
    'is refused without 1 to 100 events',
    async (body) => {
      expect(await errorOf(service.api.publishBatch(body), 400)).toMatch(/1 to 100/);
    },
  );

  it('may be a hundred times as large as one event, and no larger', async () => {
    const large = { ...one, data: { ...one.data, more: 'x'.repeat(3800) } };
    expect(await dataOf(publish(...Array<object>(100).fill(large)), 202)).toHaveLength(100);
    await errorOf(service.api.publish({ ...large, data: { ...large.data, more: 'x'.repeat(4096) } }), 413);
    const tooLarge = { ...one, data: { ...one.data, more: 'x'.repeat(4096 * 100) } };
    expect(await errorOf(publish(tooLarge), 413)).toMatch(/request body/);
  });

  it('answers the first events when it is repeated, alone or in part', async () => {
    const events = [
      { ...one, idempotencyKey: newKey() },
      { ...other, idempotencyKey: newKey() },
    ];
    const first = await dataOf(publish(...events), 202);
    const again = await dataOf(publish(events[1], one, events[0]), 202);
    expect([again[2], again[0]]).toEqual(first.map((record) => ({ ...record, duplicate: true })));
    expect(again[1]).toMatchObject({ duplicate: false });
    const single = await dataOf(service.api.publish(events[0]), 202);
    expect(single).toEqual({ ...first[0], duplicate: true });
  });

  it('takes a key that comes twice within it for a repeat', async () => {
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['job.*']);
    const keyed = { ...one, idempotencyKey: newKey() };
    const [first, repeat, last] = await dataOf(publish(keyed, keyed, other), 202);
    expect(repeat).toEqual({ ...first, duplicate: true });
    await hook.received(2);
    expect(hook.calls.map(({ headers }) => headers['webhook-id']).sort()).toEqual([first!.id, last!.id].sort());
  });

  it('is refused as a whole when a key names another event, in it or earlier', async () => {
    const idempotencyKey = newKey();
    const before = await eventIds();
    const within = publish(one, { ...numbered(1), idempotencyKey }, { ...numbered(2), idempotencyKey });
    expect(await errorOf(within, 409)).toMatch(/^events\[2]: .*key/);
    expect(await eventIds()).toEqual(before);
    const kept = await dataOf(service.api.publish({ ...numbered(3), idempotencyKey }), 202);
    const later = publish({ ...one, idempotencyKey: newKey() }, { ...numbered(4), idempotencyKey });
    expect(await errorOf(later, 409)).toMatch(/^events\[1]: .*key/);
    expect(await eventIds()).toEqual([kept.id, ...before]);
  });

  it('is published once by twenty at once, in whatever order', async () => {
    const events = Array.from({ length: 50 }, (_, i) => ({ ...numbered(i), idempotencyKey: newKey() }));
    const orders = Array.from({ length: 20 }, (_, i) => (i % 2 ? [...events].reverse() : events));
    const answers = await Promise.all(orders.map((order) => dataOf(publish(...order), 202)));
    const records = answers.flat();
    expect(new Set(records.map(({ id }) => id)).size).toBe(50);
    expect(records.filter(({ duplicate }) => !duplicate)).toHaveLength(50);
  });

  it('never waits in a circle for another one with the same keys in another order', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((letter) => ({ ...one, idempotencyKey: `${letter}-${newKey()}` }));
    // A process has one batch of a user in hand.
    const second = await startService({ ROLE: 'api', EVENT_MAX_BYTES: '4096', ...store.settings() }, service.database);
    // Both come as far as the key in the middle, and no further.
    const holder = await openTransaction(service.database, [
      `insert into webhook_service.event_keys (publisher_id, key, event_id, fingerprint)
       values ('admin', $1, gen_random_uuid(), '')`,
      [b!.idempotencyKey],
    ]);
    const replies = [publish(a, b, c), second.api.publishBatch({ events: [c, b, a] })].map((reply) =>
      dataOf(reply, 202),
    );
    await holder.waitedFor(2);
    await holder.end('rollback');
    const [ids, reversed] = (await Promise.all(replies)).map((records) => records.map(({ id }) => id));
    expect(await second.stop()).toBe(0);
    expect(reversed!.reverse()).toEqual(ids);
  });
});
