import { type Api, dataOf, errorOf, pageOf } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { EVENT_NAMES, EXAMPLES } from '../stage/examples';
import { deleteWebhooks, deliveriesOf, fannedOut, publish, subscribe } from '../stage/steps';

describeOnStores('The audience', (store) => {
  const service = useService(() => store.settings());
  const receiver = useReceiver();
  let alice: Api;
  let bob: Api;

  beforeAll(async () => {
    [alice, bob] = await Promise.all([service.apiFor('alice'), service.apiFor('bob')]);
  });

  afterEach(async () => {
    for (const api of [alice, bob, service.api]) await deleteWebhooks(api);
  });

  /** One webhook each for alice, bob and admin. */
  async function threeSubscribers() {
    const hooks = [receiver.hook(), receiver.hook(), receiver.hook()] as const;
    const apis = [alice, bob, service.api] as const;
    for (const [i, hook] of hooks.entries()) await subscribe(apis[i]!, hook, ['follower.gained']);
    const eventIds = () => hooks.map(({ calls }) => calls.map(({ headers }) => headers['webhook-id']));
    return { hooks, eventIds };
  }

  it('of an event is its publisher alone, unless something else is said', async () => {
    const { hooks, eventIds } = await threeSubscribers();
    const event = await publish(alice, 'follower.gained');
    expect(event.userId).toBe('alice');
    await hooks[0].received(1);
    await fannedOut(alice, event);
    const everybody = await publish(service.api, 'follower.gained', { userId: null });
    await Promise.all([hooks[0].received(2), hooks[1].received(1), hooks[2].received(1)]);
    expect(eventIds()).toEqual([[event.id, everybody.id], [everybody.id], [everybody.id]]);
  });

  it('of an event for another user is that user alone', async () => {
    const { hooks, eventIds } = await threeSubscribers();
    const event = await publish(service.api, 'follower.gained', { userId: 'bob' });
    expect(event.userId).toBe('bob');
    await hooks[1].received(1);
    await fannedOut(service.api, event);
    expect(eventIds()).toEqual([[], [event.id], []]);
  });

  it('of an event without a user is all users, with the same bytes for each', async () => {
    const { hooks } = await threeSubscribers();
    const event = await publish(service.api, 'follower.gained', { userId: null });
    expect(event.userId).toBeNull();
    const calls = await Promise.all(hooks.map(async (hook) => (await hook.received(1))[0]!));
    expect(new Set(calls.map(({ body }) => body.toString())).size).toBe(1);
  });

  it('may be widened only with the scope events:broadcast', async () => {
    const body = { event: 'job.started', data: EXAMPLES['job.started'] };
    for (const userId of [null, 'bob']) {
      expect(await errorOf(alice.publish({ ...body, userId }), 403)).toContain('events:broadcast');
    }
    expect(await dataOf(alice.publish({ ...body, userId: 'alice' }), 202)).toMatchObject({ userId: 'alice' });
    expect((await pageOf(bob.listEvents({ event: 'job.started' }))).rows).toEqual([]);
  });

  it('has each webhook once, and only for the events that it subscribes to', async () => {
    const [all, two] = [receiver.hook(), receiver.hook()];
    await subscribe(alice, all, ['*']);
    await subscribe(alice, two, ['job.started', 'job.completed']);
    const events = [];
    for (const name of EVENT_NAMES) events.push(await publish(alice, name));
    await Promise.all([all.received(6), two.received(2)]);
    for (const event of events) await fannedOut(alice, event);
    const names = (calls: typeof all.calls) => calls.map(({ headers }) => headers['x-service-event']).sort();
    expect(names(all.calls)).toEqual([...EVENT_NAMES].sort());
    expect(names(two.calls)).toEqual(['job.completed', 'job.started']);
  });

  it('leaves out webhooks that are inactive and those that are younger than the event', async () => {
    const [inactive, young, probe] = [receiver.hook(), receiver.hook(), receiver.hook()];
    const off = await subscribe(alice, inactive, ['follower.lost'], { active: false });
    await subscribe(alice, probe, ['follower.lost']);
    const event = await publish(alice, 'follower.lost');
    const late = await subscribe(alice, young, ['follower.lost']);
    await probe.received(1);
    await fannedOut(alice, event);
    expect(await deliveriesOf(alice, off, event)).toEqual([]);
    expect(await deliveriesOf(alice, late, event)).toEqual([]);
    expect([inactive.calls, young.calls]).toEqual([[], []]);
  });
});
