import { dataOf, type Delivery, errorOf, invalidFieldsOf, pageOf } from '../../../support/api';
import { type Claims, recordClaims } from '../../../support/claims';
import { type Hook, useReceiver } from '../../../support/receiver';
import { useService } from '../../../support/service';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { useFleet } from '../../stage/fleet';
import { EXAMPLES } from '../../stage/examples';
import { deleteWebhooks, deliveriesOf, publish, settledDeliveries, subscribe } from '../../stage/steps';

/** The most of these times that are within so many milliseconds. */
function mostWithin(ms: number, times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.max(...sorted.map((from, i) => sorted.slice(i).filter((at) => at < from + ms).length));
}

const waiting = (rows: readonly Delivery[]): Delivery[] => rows.filter(({ waitsFor }) => waitsFor === 'rate');
const job = { event: 'job.started', data: EXAMPLES['job.started'] };

/** With one attempt in ten seconds, some of these still wait after minutes. */
const MANY = 30;

describeOnStores('The rate of a webhook', (store) => {
  const service = useService(() => ({
    ...{ RETRY_BASE_DELAY_MS: '50', RETRY_FACTOR: '1', DELIVERY_TIMEOUT_MS: '60000' },
    ...store.settings(),
  }));
  const receiver = useReceiver();
  let claims: Claims;
  beforeAll(async () => {
    claims = await recordClaims(service.database);
  });
  afterEach(() => deleteWebhooks(service.api));

  const publishMany = async (count: number) => {
    const reply = service.api.publishBatch({ events: Array.from({ length: count }, () => job) });
    return dataOf(reply, 202);
  };
  const logOf = async (webhook: { id: string }) =>
    (await pageOf(service.api.listDeliveries(webhook.id, { limit: 250 }))).rows;
  /** Returns the deliveries that wait for the rate, oldest first, as soon as that many do. */
  const waitForWaiting = (webhook: { id: string }, count: number) =>
    waitFor(
      async () => {
        const rows = waiting(await logOf(webhook));
        return rows.length >= count && rows.reverse();
      },
      { what: `${count} deliveries that wait for the rate` },
    );
  const triggersAt = ({ calls }: Hook) => calls.map(({ headers }) => headers['x-service-trigger']);

  it('holds for first attempts and retries together', async () => {
    // Each event fails once: 60 attempts.
    const hook = receiver.hook(...Array.from({ length: 30 }, () => ({ status: 500 })), { status: 200 });
    const webhook = await subscribe(service.api, hook, ['job.started'], { maxPerSecond: 20 });
    const events = await publishMany(30);
    await hook.received(60);
    for (const event of events) await settledDeliveries(service.api, webhook, event);
    expect(hook.calls).toHaveLength(60);
    const times = await claims.of(webhook);
    expect(times).toHaveLength(60);
    expect(mostWithin(1000, times)).toBeLessThanOrEqual(40);
    expect(times.at(-1)! - times[0]!).toBeGreaterThan(1900);
  });

  it('lets one attempt in ten seconds begin, and the others wait in the log', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { maxPerSecond: 0.1 });
    await publishMany(MANY);
    await hook.received(1);
    const rows = await waitForWaiting(webhook, MANY / 2);
    const last = rows.at(-1)!;
    expect(last).toMatchObject({ status: 'pending', attempt: 1, waitsFor: 'rate', url: hook.url, attemptedAt: null });
    // Asked for, too, it waits.
    await errorOf(service.api.redeliver(webhook.id, last.id), 409);
    expect(await dataOf(service.api.readDelivery(webhook.id, last.id))).toMatchObject({ waitsFor: 'rate' });
    expect(mostWithin(9900, await claims.of(webhook))).toBe(1);
  });

  it('does not hold for tests', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { maxPerSecond: 0.1 });
    await publishMany(MANY);
    await waitForWaiting(webhook, MANY / 2);
    for (let i = 0; i < 3; i++)
      expect(await dataOf(service.api.testWebhook(webhook.id))).toMatchObject({ status: 'succeeded' });
    expect(triggersAt(hook).filter((trigger) => trigger === 'test')).toHaveLength(3);
    await waitForWaiting(webhook, MANY / 3);
    // Tests have used nothing of the rate either.
    await dataOf(service.api.updateWebhook(webhook.id, { maxPerSecond: 1000 }));
    await hook.received(MANY + 3);
  });

  it('holds for redeliveries and recoveries', async () => {
    const hook = receiver.hook({ status: 500 });
    const webhook = await subscribe(service.api, hook, ['job.started'], { retryDelaysMs: [] });
    const events = await publishMany(MANY);
    for (const event of events) await settledDeliveries(service.api, webhook, event);
    const [failed] = await deliveriesOf(service.api, webhook, events[0]!);
    hook.answer({});
    await dataOf(service.api.updateWebhook(webhook.id, { maxPerSecond: 0.1 }));
    await dataOf(service.api.redeliver(webhook.id, failed!.id), 202);
    await hook.received(MANY + 1);
    await dataOf(service.api.recover(webhook.id, { since: events[0]!.createdAt }), 202);
    const rows = await waitForWaiting(webhook, MANY / 2);
    expect(new Set(rows.map(({ trigger }) => trigger))).toEqual(new Set(['redelivery']));
    await dataOf(service.api.updateWebhook(webhook.id, { maxPerSecond: null }));
    await hook.received(2 * MANY);
    const triggers = triggersAt(hook);
    expect(triggers.filter((trigger) => trigger === 'redelivery')).toHaveLength(MANY);
  });

  it.each([[1000], [null]])('holds at once when it is raised to %s, also for what waits', async (maxPerSecond) => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { maxPerSecond: 0.1 });
    const events = await publishMany(50);
    await hook.received(1);
    await waitForWaiting(webhook, 25);
    const before = (await claims.of(webhook)).length;
    await dataOf(service.api.updateWebhook(webhook.id, { maxPerSecond }));
    await hook.received(50);
    // By the old rate, two of them would be ten seconds apart.
    const times = (await claims.of(webhook)).slice(before);
    expect(times.filter((at, i) => i > 0 && at - times[i - 1]! > 9900)).toEqual([]);
    for (const event of events) await settledDeliveries(service.api, webhook, event);
  });

  it('holds at once when it is set while deliveries wait for slots', async () => {
    let release = (): void => undefined;
    const hook = receiver.hook({ after: new Promise<void>((resolve) => (release = resolve)) });
    const webhook = await subscribe(service.api, hook, ['job.started']);
    await publishMany(100);
    await publishMany(100);
    await hook.received(100);
    const countOf = async (isCounted: (row: Delivery) => boolean) => (await logOf(webhook)).filter(isCounted).length;
    const allWait = async () => (await countOf(({ waitsFor }) => waitsFor === 'slot')) === 100;
    await waitFor(allWait, { what: 'a hundred deliveries that wait for a slot' });
    const before = (await claims.of(webhook)).length;
    await dataOf(service.api.updateWebhook(webhook.id, { maxPerSecond: 0.1 }));
    const rows = waiting(await logOf(webhook));
    expect(rows).toHaveLength(100);
    // The newest is the last to begin.
    const [row] = rows;
    expect(await dataOf(service.api.readDelivery(webhook.id, row!.id))).toMatchObject({ waitsFor: 'rate' });
    await errorOf(service.api.redeliver(webhook.id, row!.id), 409);
    release();
    const areDelivered = async () => (await countOf(({ status }) => status === 'succeeded')) >= 100;
    await waitFor(areDelivered, { what: 'the attempts that were in flight' });
    // One at once, and one in ten seconds.
    expect(mostWithin(9900, (await claims.of(webhook)).slice(before))).toBeLessThanOrEqual(1);
    expect(waiting(await logOf(webhook)).length).toBeGreaterThan(50);
  });

  it('ends with the webhook: what waits is canceled', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { maxPerSecond: 0.1 });
    const events = await publishMany(MANY);
    await hook.received(1);
    await waitForWaiting(webhook, MANY / 2);
    await dataOf(service.api.updateWebhook(webhook.id, { active: false }));
    const rows = (await Promise.all(events.map((event) => settledDeliveries(service.api, webhook, event)))).flat();
    expect(rows).toHaveLength(MANY);
    expect(rows.filter(({ waitsFor }) => waitsFor !== null)).toEqual([]);
    const canceled = rows.filter(({ status }) => status === 'canceled');
    expect(canceled.length).toBeGreaterThanOrEqual(MANY / 3);
    expect(rows.filter(({ status }) => status === 'succeeded')).toHaveLength(MANY - canceled.length);
  });

  it('takes 0.1 to 1000, and nothing else', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started']);
    expect(webhook.maxPerSecond).toBeNull();
    for (const maxPerSecond of [0.1, 0.5, 1000, null])
      expect(await dataOf(service.api.updateWebhook(webhook.id, { maxPerSecond }))).toMatchObject({ maxPerSecond });
    for (const maxPerSecond of [0, 0.09, 1000.1, -1, '5', [5], {}, true])
      expect(await invalidFieldsOf(service.api.updateWebhook(webhook.id, { maxPerSecond }))).toEqual([
        'maxPerSecond: invalid',
      ]);
  });
});

describeOnStores('The rate of a webhook, over three workers', (store) => {
  const fleet = useFleet({ apis: 1, workers: 3 }, () => store.settings());
  const receiver = useReceiver();

  it('is kept by all of them together, and other webhooks do not wait', async () => {
    const api = fleet().through(fleet().apis[0]!);
    const claims = await recordClaims(fleet().database);
    const [hook, other] = [receiver.hook(), receiver.hook()];
    const webhook = await subscribe(api, hook, ['job.started'], { maxPerSecond: 20 });
    await subscribe(api, other, ['job.completed']);
    for (let i = 0; i < 3; i++) await dataOf(api.publishBatch({ events: Array.from({ length: 100 }, () => job) }), 202);
    await hook.received(1);
    let meanwhile = 0;
    while (hook.calls.length < 300) {
      const { id } = await publish(api, 'job.completed');
      const isReceived = () => other.calls.some(({ headers }) => headers['webhook-id'] === id);
      await waitFor(isReceived, { what: 'an event of the other webhook', everyMs: 1 });
      if (hook.calls.length < 300) meanwhile += 1;
    }
    expect(new Set(hook.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(300);
    const times = await claims.of(webhook);
    expect(times).toHaveLength(300);
    expect(mostWithin(10_000, times)).toBeLessThanOrEqual(220);
    expect(times.at(-1)! - times[0]!).toBeGreaterThan(13_000);
    // Behind the others, the first of them would have come last. Usually some 200 come.
    expect(meanwhile).toBeGreaterThan(5);
  });
});
