import { dataOf, type Delivery } from '../../../support/api';
import { type Answer, useReceiver } from '../../../support/receiver';
import { useService } from '../../../support/service';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { deleteWebhooks, deliveriesOf, publish, settledDeliveries, subscribe } from '../../stage/steps';
import { DAY_MS, HOUR_MS } from '../../../../src/infrastructure/config/durations';

/** The end of an attempt is told by the clock of its process, which knows PostgreSQL's to within this on a busy machine, too. */
const CLOCKS_MS = 100;

const FAILED: Answer = { status: 500 };

describeOnStores('A webhook with a retry plan of its own', (store) => {
  const service = useService(() => ({ MAX_RETRIES: '3', ...store.settings() }));
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  const subscribed = (answer: Answer, retryDelaysMs: number[] | null) =>
    subscribe(service.api, receiver.hook(answer), ['job.started'], { retryDelaysMs });

  /** Waits until this many attempts have failed and shows them with what follows. */
  async function afterFailures(count: number, webhook: { id: string }, event: { id: string }): Promise<Delivery[]> {
    return waitFor(
      async () => {
        const rows = await deliveriesOf(service.api, webhook, event);
        return rows.filter(({ status }) => status === 'failed').length === count && rows;
      },
      { what: `${count} failed attempts`, everyMs: 5 },
    );
  }

  const hasFailed = (webhook: { id: string }, events: number) =>
    waitFor(async () => (await dataOf(service.api.readWebhook(webhook.id))).consecutiveFailures === events, {
      what: `${events} failed events in a row`,
    });

  it('makes one retry with one delay, and the event has failed then', async () => {
    const hook = receiver.hook(FAILED);
    const webhook = await subscribe(service.api, hook, ['job.started'], { retryDelaysMs: [1000] });
    const event = await publish(service.api, 'job.started');
    const rows = await settledDeliveries(service.api, webhook, event);
    expect(rows).toMatchObject([
      { attempt: 1, status: 'failed', nextAttemptAt: rows[1]?.scheduledAt },
      { attempt: 2, status: 'failed', nextAttemptAt: null },
    ]);
    expectWait(rows[0]!, 1000);
    expect(hook.calls[1]!.receivedAt).toBeGreaterThanOrEqual(Date.parse(rows[0]!.nextAttemptAt!));
    await hasFailed(webhook, 1);
    expect(hook.calls).toHaveLength(2);
  });

  it('makes no retry with an empty list, and each event that fails counts', async () => {
    const webhook = await subscribed(FAILED, []);
    for (const failures of [1, 2]) {
      const rows = await settledDeliveries(service.api, webhook, await publish(service.api, 'job.started'));
      expect(rows).toMatchObject([{ attempt: 1, status: 'failed', nextAttemptAt: null }]);
      await hasFailed(webhook, failures);
    }
  });

  it('waits before each retry as long as its own delay says', async () => {
    const webhook = await subscribed(FAILED, [1000, DAY_MS]);
    const rows = await afterFailures(2, webhook, await publish(service.api, 'job.started'));
    expectWait(rows[0]!, 1000);
    expectWait(rows[1]!, DAY_MS);
    expect(rows[2]).toMatchObject({ attempt: 3, status: 'pending', scheduledAt: rows[1]!.nextAttemptAt });
  });

  it('begins again with the first delay when a delivery is sent again', async () => {
    const webhook = await subscribed(FAILED, [60_000]);
    const event = await publish(service.api, 'job.started');
    const [first, second] = await afterFailures(1, webhook, event);
    await dataOf(service.api.updateWebhook(webhook.id, { retryDelaysMs: [] }));
    await dataOf(service.api.redeliver(webhook.id, second!.id));
    await afterFailures(2, webhook, event);
    await hasFailed(webhook, 1);
    await dataOf(service.api.updateWebhook(webhook.id, { retryDelaysMs: [60_000] }));
    const { id } = await dataOf(service.api.redeliver(webhook.id, first!.id), 202);
    const rows = await afterFailures(3, webhook, event);
    expectWait(
      rows.find((row) => row.id === id)!,
      60_000,
    );
  });

  it('waits longer when the receiver asks for it, and not shorter', async () => {
    const longer = await subscribed({ status: 429, headers: { 'retry-after': '3600' } }, [1000]);
    const shorter = await subscribed({ status: 503, headers: { 'retry-after': '1' } }, [60_000]);
    const event = await publish(service.api, 'job.started');
    const [asked] = await afterFailures(1, longer, event);
    expectWait(asked!, HOUR_MS, 0);
    const [planned] = await afterFailures(1, shorter, event);
    expectWait(planned!, 60_000);
  });

  it('gets no retry by the wish of its receiver alone', async () => {
    const webhook = await subscribed({ status: 503, headers: { 'retry-after': '1' } }, []);
    const rows = await settledDeliveries(service.api, webhook, await publish(service.api, 'job.started'));
    expect(rows).toMatchObject([{ attempt: 1, status: 'failed', nextAttemptAt: null }]);
    await hasFailed(webhook, 1);
  });

  it('follows a changed plan from the next attempt on', async () => {
    const webhook = await subscribed(FAILED, [1000, 60_000]);
    const event = await publish(service.api, 'job.started');
    await afterFailures(1, webhook, event);
    await dataOf(service.api.updateWebhook(webhook.id, { retryDelaysMs: [60_000] }));
    const rows = await afterFailures(2, webhook, event);
    expect(rows).toMatchObject([{ attempt: 1 }, { attempt: 2, nextAttemptAt: null }]);
    await hasFailed(webhook, 1);
  });

  it('leaves the plans of other webhooks alone', async () => {
    const [own, none, ordinary] = [
      await subscribed(FAILED, [60_000]),
      await subscribed(FAILED, []),
      await subscribed(FAILED, null),
    ];
    const event = await publish(service.api, 'job.started');
    expect(await settledDeliveries(service.api, ordinary, event)).toHaveLength(4);
    expect(await afterFailures(1, own, event)).toHaveLength(2);
    expect(await afterFailures(1, none, event)).toHaveLength(1);
  });
});

/** Expects the announced wait to be this long, up to the jitter. */
function expectWait({ nextAttemptAt, completedAt }: Delivery, ms: number, jitter = 0.2): void {
  const waitMs = Date.parse(nextAttemptAt ?? 'missing') - Date.parse(completedAt ?? 'missing');
  expect(waitMs).toBeGreaterThanOrEqual(ms * (1 - jitter) - CLOCKS_MS);
  expect(waitMs).toBeLessThanOrEqual(ms * (1 + jitter) + CLOCKS_MS);
}
