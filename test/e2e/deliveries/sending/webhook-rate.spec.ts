import { dataOf, type Delivery, errorOf, invalidFieldsOf, pageOf } from '../../../support/api';
import { type Hook, useReceiver } from '../../../support/receiver';
import { useService } from '../../../support/service';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { useFleet } from '../../stage/fleet';
import { EXAMPLES } from '../../stage/examples';
import { deleteWebhooks, deliveriesOf, publish, settledDeliveries, subscribe } from '../../stage/steps';

/** The most calls that came within a time. */
function mostWithin(ms: number, times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.max(...sorted.map((from, i) => sorted.slice(i).filter((at) => at < from + ms).length));
}

const timesOf = ({ calls }: Hook): number[] => calls.map(({ receivedAt }) => receivedAt);
const waiting = (rows: readonly Delivery[]): Delivery[] => rows.filter(({ waitsFor }) => waitsFor === 'rate');
const job = { event: 'job.started', data: EXAMPLES['job.started'] };

describeOnStores('The rate of a webhook', (store) => {
  const service = useService(() => ({ RETRY_BASE_DELAY_MS: '50', RETRY_FACTOR: '1', ...store.settings() }));
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  const publishMany = async (count: number) => {
    const reply = service.api.publishBatch({ events: Array.from({ length: count }, () => job) });
    return dataOf(reply, 202);
  };
  const logOf = async (webhook: { id: string }) =>
    (await pageOf(service.api.listDeliveries(webhook.id, { limit: 250 }))).rows;
  const waitForWaiting = (webhook: { id: string }, count: number) =>
    waitFor(
      async () => {
        const rows = waiting(await logOf(webhook));
        return rows.length === count && rows;
      },
      { what: `${count} deliveries that wait for the rate` },
    );

  it('holds for first attempts and retries together', async () => {
    // Each event fails once: 60 attempts.
    const hook = receiver.hook(...Array.from({ length: 30 }, () => ({ status: 500 })), { status: 200 });
    const webhook = await subscribe(service.api, hook, ['job.started'], { maxPerSecond: 20 });
    const events = await publishMany(30);
    await hook.received(60);
    for (const event of events) await settledDeliveries(service.api, webhook, event);
    expect(hook.calls).toHaveLength(60);
    expect(mostWithin(1000, timesOf(hook))).toBeLessThanOrEqual(40);
    expect(timesOf(hook).at(-1)! - timesOf(hook)[0]!).toBeGreaterThan(1900);
  });

  it('lets one attempt in ten seconds begin, and the others wait in the log', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { maxPerSecond: 0.1 });
    await publishMany(5);
    await hook.received(1);
    const [first, second] = (await waitForWaiting(webhook, 4)).reverse();
    expect(first).toMatchObject({ status: 'pending', attempt: 1, waitsFor: 'rate', url: hook.url, attemptedAt: null });
    // Asked for, too, it waits.
    await errorOf(service.api.redeliver(webhook.id, second!.id), 409);
    expect(await dataOf(service.api.readDelivery(webhook.id, first!.id))).toMatchObject({ waitsFor: 'rate' });
    expect(hook.calls).toHaveLength(1);
  });

  it('does not hold for tests', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { maxPerSecond: 0.1 });
    await publishMany(2);
    await waitForWaiting(webhook, 1);
    for (let i = 0; i < 3; i++)
      expect(await dataOf(service.api.testWebhook(webhook.id))).toMatchObject({ status: 'succeeded' });
    expect(hook.calls).toHaveLength(4);
    // Tests have used nothing of the rate either.
    await dataOf(service.api.updateWebhook(webhook.id, { maxPerSecond: 1000 }));
    await hook.received(5);
  });

  it('holds for redeliveries and recoveries', async () => {
    const hook = receiver.hook({ status: 500 });
    const webhook = await subscribe(service.api, hook, ['job.started'], { retryDelaysMs: [] });
    const since = new Date(Date.now() - 60_000).toISOString();
    const events = await publishMany(5);
    for (const event of events) await settledDeliveries(service.api, webhook, event);
    hook.answer({});
    await dataOf(service.api.updateWebhook(webhook.id, { maxPerSecond: 0.1 }));
    const [failed] = await deliveriesOf(service.api, webhook, events[0]!);
    await dataOf(service.api.redeliver(webhook.id, failed!.id), 202);
    await hook.received(6);
    await dataOf(service.api.recover(webhook.id, { since }), 202);
    expect((await waitForWaiting(webhook, 4)).map(({ trigger }) => trigger)).toEqual(Array(4).fill('redelivery'));
    expect(hook.calls).toHaveLength(6);
    await dataOf(service.api.updateWebhook(webhook.id, { maxPerSecond: null }));
    await hook.received(10);
  });

  it.each([[1000], [null]])('holds at once when it is raised to %s, also for what waits', async (maxPerSecond) => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { maxPerSecond: 0.1 });
    const events = await publishMany(50);
    await waitForWaiting(webhook, 49);
    const raisedAt = Date.now();
    await dataOf(service.api.updateWebhook(webhook.id, { maxPerSecond }));
    await hook.received(50);
    // By the old rate, the next one would have begun nine seconds later.
    expect(timesOf(hook).at(-1)! - raisedAt).toBeLessThan(8000);
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
    await dataOf(service.api.updateWebhook(webhook.id, { maxPerSecond: 0.1 }));
    const changedAt = Date.now();
    const [row] = waiting(await logOf(webhook));
    expect(await countOf(({ waitsFor }) => waitsFor === 'rate')).toBe(100);
    expect(await dataOf(service.api.readDelivery(webhook.id, row!.id))).toMatchObject({ waitsFor: 'rate' });
    await errorOf(service.api.redeliver(webhook.id, row!.id), 409);
    release();
    const areDelivered = async () => (await countOf(({ status }) => status === 'succeeded')) >= 100;
    await waitFor(areDelivered, { what: 'the attempts that were in flight' });
    // Two, and one in ten seconds.
    expect(hook.calls.length).toBeLessThanOrEqual(102 + (Date.now() - changedAt) / 10_000);
    expect(waiting(await logOf(webhook)).length).toBeGreaterThan(90);
  });

  it('ends with the webhook: what waits is canceled', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { maxPerSecond: 0.1 });
    const events = await publishMany(3);
    await waitForWaiting(webhook, 2);
    await dataOf(service.api.updateWebhook(webhook.id, { active: false }));
    const rows = (await Promise.all(events.map((event) => deliveriesOf(service.api, webhook, event)))).flat();
    expect(rows.map(({ status, waitsFor }) => [status, waitsFor]).sort()).toEqual([
      ['canceled', null],
      ['canceled', null],
      ['succeeded', null],
    ]);
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
    const [hook, other] = [receiver.hook(), receiver.hook()];
    await subscribe(api, hook, ['job.started'], { maxPerSecond: 20 });
    await subscribe(api, other, ['job.completed']);
    const beganAt = Date.now();
    for (let i = 0; i < 3; i++) await dataOf(api.publishBatch({ events: Array.from({ length: 100 }, () => job) }), 202);
    const delays: number[] = [];
    while (hook.calls.length < 300) {
      const at = Date.now();
      const { id } = await publish(api, 'job.completed');
      const [call] = await waitFor(
        () => {
          const found = other.calls.filter(({ headers }) => headers['webhook-id'] === id);
          return found.length > 0 && found;
        },
        { what: 'an event of the other webhook', everyMs: 1 },
      );
      delays.push(call!.receivedAt - at);
    }
    const times = timesOf(hook);
    expect(new Set(hook.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(300);
    expect(mostWithin(10_000, times)).toBeLessThanOrEqual(220);
    expect(times.at(-1)! - times[0]!).toBeGreaterThan(13_000);
    expect(times.at(-1)! - beganAt).toBeLessThan(17_000);
    // Usually below 50 ms.
    expect(delays.sort((a, b) => a - b)[Math.floor(delays.length * 0.95)]).toBeLessThan(500);
  });
});
