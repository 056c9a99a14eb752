import { type Api, dataOf, errorOf, invalidFieldsOf } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { EXAMPLES } from '../../e2e/stage/examples';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../../e2e/stage/steps';

const VALID = { event: 'job.started', data: EXAMPLES['job.started'] };
/** With everything that JSON, headers and addresses write in a way of their own. */
const ODD = `50 % of "invoice/7" & 'Ü' 🧾`;
const ODD_ENCODED = '50%20%25%20of%20%22invoice%2F7%22%20%26%20%27%C3%9C%27%20%F0%9F%A7%BE';

describe('A subject', () => {
  const service = useService();
  const receiver = useReceiver();
  let alice: Api;
  beforeAll(async () => {
    const scopes = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish', 'messages:pull'];
    alice = await service.apiFor('alice', scopes);
  });
  afterEach(() => deleteWebhooks(alice));

  it.each(['invoice/123', ODD, '🧾'.repeat(128), '訂單 7'])(
    '%p reaches receivers in body and header',
    async (subject) => {
      const hook = receiver.hook();
      await subscribe(alice, hook, ['job.started']);
      const { id, createdAt } = await publish(alice, 'job.started', { subject });
      const [call] = await hook.received(1);
      const body = call!.body.toString();
      expect(body).toBe(JSON.stringify({ id, event: 'job.started', createdAt, subject, data: VALID.data }));
      expect(JSON.stringify(JSON.parse(body))).toBe(body);
      const header = String(call!.headers['x-service-subject']);
      expect(header).toMatch(/^(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+$/);
      expect(decodeURIComponent(header)).toBe(subject);
      if (subject === ODD) expect(header).toBe(ODD_ENCODED);
    },
  );

  it.each([{}, { subject: null }])('is nowhere when there is none: %j', async (more) => {
    const hook = receiver.hook();
    const webhook = await subscribe(alice, hook, ['job.started']);
    const event = await publish(alice, 'job.started', more);
    const [call] = await hook.received(1);
    const { id, createdAt } = event;
    expect(call!.body.toString()).toBe(JSON.stringify({ id, event: 'job.started', createdAt, data: VALID.data }));
    expect(Object.keys(call!.headers).filter((name) => name.includes('subject'))).toEqual([]);
    expect(await dataOf(alice.readEvent(id))).toMatchObject({ subject: null, deliveries: [{ subject: null }] });
    expect(await settledDeliveries(alice, webhook, event)).toMatchObject([{ subject: null }]);
  });

  it('is shown on the event, on every delivery of it, and in what was sent', async () => {
    const hook = receiver.hook({ status: 500 }, { status: 200 });
    const webhook = await subscribe(alice, hook, ['job.started'], { retryDelaysMs: [1000] });
    const event = await publish(alice, 'job.started', { subject: ODD });
    const rows = await settledDeliveries(alice, webhook, event);
    await dataOf(alice.redeliver(webhook.id, rows.at(-1)!.id), 202);
    const all = await settledDeliveries(alice, webhook, event);
    expect(all.map(({ attempt, trigger, subject }) => [attempt, trigger, subject])).toEqual([
      [1, 'event', ODD],
      [2, 'event', ODD],
      [1, 'redelivery', ODD],
    ]);
    expect(await dataOf(alice.readEvent(event.id))).toMatchObject({ subject: ODD });
    for (const { id } of all) {
      const { request } = await dataOf(alice.readOwnDelivery(id));
      expect(request!.headers).toMatchObject({ 'x-service-subject': ODD_ENCODED });
      expect(JSON.parse(request!.body)).toMatchObject({ subject: ODD });
    }
    expect(hook.calls.map(({ headers }) => headers['x-service-subject'])).toEqual(Array(3).fill(ODD_ENCODED));
  });

  it('is the subject of a CloudEvent, and of a message that is pulled', async () => {
    const hook = receiver.hook();
    await subscribe(alice, hook, ['job.started'], { format: 'cloudevents' });
    const pull = await dataOf(alice.createWebhook({ kind: 'pull', events: ['job.started'] }), 201);
    for (const subject of [ODD, undefined]) await publish(alice, 'job.started', { subject });
    const calls = await hook.received(2);
    const sent = calls.map(({ headers, body }) => [
      (JSON.parse(body.toString()) as { subject?: string }).subject,
      headers['x-service-subject'],
    ]);
    expect(sent).toEqual(
      expect.arrayContaining([
        [ODD, ODD_ENCODED],
        [undefined, undefined],
      ]),
    );
    const messages = [];
    while (messages.length < 2) messages.push(...(await dataOf(alice.lease(pull.id, { waitSeconds: 20 }))));
    expect(messages.map(({ headers }) => headers['x-service-subject'])).toEqual([ODD_ENCODED, undefined]);
    expect(messages.map(({ body }) => (JSON.parse(body) as { subject?: string }).subject)).toEqual([ODD, undefined]);
  });

  it('is none of a test', async () => {
    const webhook = await subscribe(alice, receiver.hook(), ['job.started']);
    const tested = await dataOf(alice.testWebhook(webhook.id, { event: 'job.started' }));
    expect(tested.subject).toBeNull();
    expect(tested.request!.headers).not.toHaveProperty('x-service-subject');
    expect(JSON.parse(tested.request!.body)).not.toHaveProperty('subject');
  });

  it.each(
    [
      ['', 'x'.repeat(129), '🧾'.repeat(129), ' a', 'a '],
      ['a\nb', '\u0000', 'a\u200bb', '\u202ea', 'a\u00a0b', 'a\u2028b', '\ue000', '\ud800', '\u0378'],
      [5, true, {}, ['a']],
    ].flat(),
  )('may not be %j', async (subject) => {
    const wrong = { ...VALID, subject };
    const reply = alice.publish(wrong);
    expect(await invalidFieldsOf(reply)).toEqual(['subject: invalid']);
    expect(await errorOf(reply, 400)).toMatch(/^subject must be 1 to 128 visible characters, with spaces only between/);
    const batch = alice.publishBatch({ events: [VALID, wrong] });
    expect(await invalidFieldsOf(batch)).toEqual(['events[1].subject: invalid']);
    expect(await errorOf(batch, 400)).toMatch(/^events\[1]\.subject must be/);
  });

  it('may differ for each event of a batch', async () => {
    const subjects = ['a', null, undefined, ODD];
    const events = await dataOf(
      alice.publishBatch({ events: subjects.map((subject) => ({ ...VALID, subject })) }),
      202,
    );
    const read = await Promise.all(events.map(({ id }) => dataOf(alice.readEvent(id))));
    expect(read.map(({ subject }) => subject)).toEqual(['a', null, null, ODD]);
  });

  it('makes another event of a repeat with the same idempotency key', async () => {
    const idempotencyKey = 'a key of subjects';
    const first = await dataOf(alice.publish({ ...VALID, idempotencyKey, subject: 'one' }), 202);
    const again = { ...VALID, data: Object.fromEntries(Object.entries(VALID.data).reverse()) };
    for (const same of [VALID, again])
      expect(await dataOf(alice.publish({ ...same, idempotencyKey, subject: 'one' }), 202)).toEqual({
        ...first,
        duplicate: true,
      });
    for (const subject of ['two', undefined, null]) {
      const other = { ...VALID, idempotencyKey, subject };
      await errorOf(alice.publish(other), 'idempotency_key_reused');
      await errorOf(alice.publishBatch({ events: [other] }), 'idempotency_key_reused');
    }
    const twice = ['one', 'two'].map((subject) => ({ ...VALID, idempotencyKey: 'in a batch', subject }));
    await errorOf(alice.publishBatch({ events: twice }), 'idempotency_key_reused');
  });

  it('chooses events in filters; an event without one lacks it', async () => {
    const hooks = { some: receiver.hook(), none: receiver.hook(), all: receiver.hook() };
    const filters = { some: { subject: { prefix: 'invoice/' } }, none: { subject: { exists: false } }, all: null };
    for (const name of ['some', 'none', 'all'] as const)
      await subscribe(alice, hooks[name], ['job.started'], { filter: filters[name] });
    for (const subject of ['invoice/1', 'order/1', undefined]) await publish(alice, 'job.started', { subject });
    await hooks.all.received(3);
    const subjectsAt = (calls: { body: Buffer }[]) =>
      calls.map(({ body }) => (JSON.parse(body.toString()) as { subject?: string }).subject);
    expect(subjectsAt(await hooks.some.received(1))).toEqual(['invoice/1']);
    expect(subjectsAt(await hooks.none.received(1))).toEqual([undefined]);
    expect(
      await invalidFieldsOf(alice.createWebhook({ url: hooks.all.url, events: ['*'], filter: { 'subject.a': 1 } })),
    ).toEqual(['filter["subject.a"]: invalid']);
  });

  it('can be tried in checks of filters and previews of formats', async () => {
    const check = (body: object) => alice.call('POST', '/api/filter-checks', { body });
    const filter = { subject: 'invoice/1' };
    expect(await dataOf(check({ filter, ...VALID, subject: 'invoice/1' }))).toEqual({ matches: true, failed: [] });
    expect(await dataOf(check({ filter, ...VALID }))).toMatchObject({ matches: false, failed: [{ found: null }] });
    const { id } = await publish(alice, 'job.started', { subject: 'invoice/1' });
    expect(await dataOf(check({ filter, eventId: id }))).toMatchObject({ matches: true });
    expect(await invalidFieldsOf(check({ filter, ...VALID, subject: 'a\n' }))).toEqual(['subject: invalid']);
    expect(await invalidFieldsOf(check({ filter, eventId: id, subject: 'a' }))).toEqual(['eventId: invalid']);
    const preview = (body: object) =>
      dataOf(
        alice.call<{ body: string }>('POST', '/api/format-previews', { body: { format: 'cloudevents', ...body } }),
      );
    for (const chosen of [{ eventId: id }, { ...VALID, subject: 'invoice/1' }])
      expect(JSON.parse((await preview(chosen)).body)).toMatchObject({ subject: 'invoice/1' });
    expect(JSON.parse((await preview(VALID)).body)).not.toHaveProperty('subject');
  });
});
