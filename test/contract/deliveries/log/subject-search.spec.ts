import { type Api, dataOf, errorOf, invalidFieldsOf, pageOf, type Query } from '../../../support/api';
import { useReceiver } from '../../../support/receiver';
import { useService } from '../../../support/service';
import { deleteWebhooks, fannedOut, publish, settledDeliveries, subscribe } from '../../../e2e/stage/steps';

describe('Searching for a subject', () => {
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

  const eventsAbout = async (api: Api, query: Query) => (await pageOf(api.listEvents(query))).rows.map(({ id }) => id);

  it('finds events with exactly this text, newest first, page by page', async () => {
    const subject = 'invoice/1 % 🧾';
    const ids: string[] = [];
    for (const about of [subject, `${subject}1`, subject, null, subject.toUpperCase(), subject])
      ids.unshift((await publish(alice, 'job.started', { subject: about })).id);
    const [third, , , second, , first] = ids;
    expect(await eventsAbout(alice, { subject })).toEqual([third, second, first]);
    const page = await pageOf(alice.listEvents({ subject, limit: 2 }));
    expect(page.rows.map(({ id, subject: found }) => [id, found])).toEqual([third, second].map((id) => [id, subject]));
    const rest = await pageOf(alice.listEvents({ subject, limit: 2, cursor: page.nextCursor! }));
    expect(rest.rows.map(({ id }) => id)).toEqual([first]);
    expect(rest.nextCursor).toBeNull();
    await errorOf(alice.listEvents({ subject: 'another', limit: 2, cursor: page.nextCursor! }), 'cursor_invalid');
  });

  it('goes together with names and times', async () => {
    const subject = 'together';
    const started = await publish(alice, 'job.started', { subject });
    const lost = await publish(alice, 'follower.lost', { subject });
    expect(await eventsAbout(alice, { subject, event: 'job.started' })).toEqual([started.id]);
    expect(await eventsAbout(alice, { subject, event: 'job.completed' })).toEqual([]);
    expect(await eventsAbout(alice, { subject, since: started.createdAt })).toEqual([lost.id, started.id]);
    expect(await eventsAbout(alice, { subject, until: started.createdAt })).toEqual([]);
  });

  it('shows events to those who may see them', async () => {
    const subject = 'seen';
    await subscribe(alice, receiver.hook(), ['operation.complete']);
    const own = await publish(alice, 'job.started', { subject });
    const forAlice = await publish(service.api, 'job.started', { subject, userId: 'alice' });
    const forBob = await publish(service.api, 'job.started', { subject, userId: 'bob' });
    const forAll = await publish(service.api, 'operation.complete', { subject, userId: null });
    const unsent = await publish(service.api, 'operation.failed', { subject, userId: null });
    for (const event of [forAll, unsent]) await fannedOut(service.api, event);
    expect(await eventsAbout(alice, { subject })).toEqual([forAll.id, forAlice.id, own.id]);
    expect(await eventsAbout(alice, { subject, event: 'operation.complete' })).toEqual([forAll.id]);
    expect(await eventsAbout(bob, { subject })).toEqual([forBob.id]);
    expect(await eventsAbout(service.api, { subject })).toEqual([unsent.id, forAll.id, forBob.id, forAlice.id]);
  });

  it('finds deliveries in both logs, with every other filter, and counts them', async () => {
    const subject = 'invoice/2';
    const good = await subscribe(alice, receiver.hook(), ['job.*']);
    const bad = await subscribe(alice, receiver.hook({ status: 500 }), ['job.*'], { retryDelaysMs: [] });
    const events = [];
    for (const about of [subject, 'other', subject, undefined])
      events.unshift(await publish(alice, 'job.started', { subject: about }));
    const completed = await publish(alice, 'job.completed', { subject });
    for (const event of [...events, completed])
      for (const webhook of [good, bad]) await settledDeliveries(alice, webhook, event);
    const found = async (query: Query, webhook?: { id: string }) => {
      const wanted = { subject, ...query };
      const list = webhook ? alice.listDeliveries(webhook.id, wanted) : alice.listAllDeliveries(wanted);
      const { rows } = await pageOf(list);
      expect(rows.every((row) => row.subject === subject)).toBe(true);
      return rows.length;
    };
    expect(await found({})).toBe(6);
    expect(await found({}, good)).toBe(3);
    expect(await found({ status: 'failed' })).toBe(3);
    expect(await found({ status: 'failed' }, good)).toBe(0);
    expect(await found({ event: 'job.completed' })).toBe(2);
    expect(await found({ eventId: events[1]!.id })).toBe(2);
    expect(await found({ eventId: events[0]!.id })).toBe(0);
    expect(await found({ state: 'gave_up' })).toBe(3);
    expect(await found({ givenUp: true }, bad)).toBe(3);
    expect(await found({ error: 'http_status', responseStatus: '5xx', trigger: 'event' })).toBe(3);
    expect(await found({ since: completed.createdAt }, bad)).toBe(1);
    expect(await dataOf(alice.countDeliveries({ subject }))).toEqual({ count: 6, atLeast: false });
    expect(await dataOf(alice.countDeliveries({ subject, state: 'delivered' }))).toEqual({ count: 3, atLeast: false });
    expect((await pageOf(bob.listAllDeliveries({ subject }))).rows).toEqual([]);
    const pages = await pageOf(alice.listAllDeliveries({ subject, limit: 4 }));
    expect((await pageOf(alice.listAllDeliveries({ subject, limit: 4, cursor: pages.nextCursor! }))).rows).toHaveLength(
      2,
    );
  });

  it('waits for changes of such deliveries', async () => {
    await subscribe(alice, receiver.hook(), ['job.started']);
    const { nextCursor } = await pageOf(alice.listAllDeliveries({ subject: 'awaited', changedAfter: 'now' }));
    const waiting = pageOf(alice.listAllDeliveries({ subject: 'awaited', changedAfter: nextCursor!, waitSeconds: 20 }));
    await publish(alice, 'job.started', { subject: 'other' });
    await publish(alice, 'job.started', { subject: 'awaited' });
    expect((await waiting).rows.map(({ subject }) => subject)).toContain('awaited');
    expect((await waiting).rows.map(({ subject }) => subject)).not.toContain('other');
  });

  it.each(['', ' a', 'a'.repeat(129), 'a\u0000', 'a\u200b'])(
    'is refused for %j, which no subject can be',
    async (subject) => {
      for (const reply of [
        alice.listEvents({ subject }),
        alice.listAllDeliveries({ subject }),
        alice.countDeliveries({ subject }),
      ]) {
        expect(await invalidFieldsOf(Promise.resolve(await reply))).toEqual(['query.subject: invalid']);
      }
    },
  );

  it('is refused for two at once', async () => {
    await errorOf(alice.listEvents({ subject: ['a', 'b'] }), 400);
  });
});
