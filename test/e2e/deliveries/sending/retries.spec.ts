import { type CreatedWebhook, type Delivery, pageOf, type PublishedEvent } from '../../../support/api';
import { type Hook, type ReceivedCall, useReceiver } from '../../../support/receiver';
import { useService } from '../../../support/service';
import { cryptoSignature, verifyStandardWebhook } from '../../../support/signatures';
import { describeOnStores, type Store } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { deliveriesOf, publish, settledDeliveries, subscribe } from '../../stage/steps';

/** Waits of 100, 500 and 2500 ms, each give or take a fifth: they grow, whatever the jitter. */
const SCHEDULE = { RETRY_BASE_DELAY_MS: '100', RETRY_FACTOR: '5' };
const JITTER = 0.2;
/** The end of an attempt is told by the clock of its process, which knows PostgreSQL's to within this on a busy machine, too. */
const CLOCKS_MS = 80;

const timeOf = (text: string | null): number => Date.parse(text ?? 'missing');

describeOnStores('A receiver that answers 500 for ever', (store: Store) => {
  const service = useService(() => ({ ...SCHEDULE, ...store.settings() }));
  const receiver = useReceiver();
  let hook: Hook;
  let webhook: CreatedWebhook;
  let event: PublishedEvent;
  let calls: readonly ReceivedCall[];
  let rows: Delivery[];
  const snapshots: Delivery[][] = [];

  beforeAll(async () => {
    hook = receiver.hook({ status: 500 });
    webhook = await subscribe(service.api, hook, ['operation.failed'], { secret: 'a secret of mine' });
    event = await publish(service.api, 'operation.failed');
    await waitFor(
      async () => {
        rows = await deliveriesOf(service.api, webhook, event);
        snapshots.push(rows);
        return rows.length > 0 && rows.every(({ status }) => status === 'failed');
      },
      { what: 'the fourth failure', everyMs: 5 },
    );
    calls = [...hook.calls];
  });

  it('is called exactly four times', async () => {
    const next = await publish(service.api, 'operation.failed');
    await waitFor(() => hook.calls.some(({ headers }) => headers['webhook-id'] === next.id), { what: 'a later event' });
    expect(hook.calls.filter(({ headers }) => headers['webhook-id'] === event.id)).toHaveLength(4);
    expect(calls).toHaveLength(4);
  });

  it('is called at growing intervals that are never shorter than announced', () => {
    // A busy machine calls late, and once later than another time: what grows is the wait that is announced and kept.
    const waits = rows.slice(0, 3).map((row) => timeOf(row.nextAttemptAt) - timeOf(row.completedAt));
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    for (const [i, row] of rows.slice(0, 3).entries()) {
      const nominal = 100 * 5 ** i;
      expect(waits[i]).toBeGreaterThanOrEqual(nominal * (1 - JITTER) - CLOCKS_MS);
      expect(waits[i]).toBeLessThanOrEqual(nominal * (1 + JITTER) + CLOCKS_MS);
      expect(calls[i + 1]!.receivedAt).toBeGreaterThanOrEqual(timeOf(row.nextAttemptAt));
    }
  });

  it('has four rows in the log, numbered 1 to 4, the last one without a next attempt', () => {
    const error = { code: 'http_status', message: expect.stringContaining('500') };
    expect(rows).toMatchObject(
      [1, 2, 3, 4].map((attempt) => ({ attempt, trigger: 'event', status: 'failed', responseStatus: 500, error })),
    );
    expect(rows.map(({ nextAttemptAt }) => nextAttemptAt !== null)).toEqual([true, true, true, false]);
    expect(rows.slice(1).map(({ scheduledAt }) => scheduledAt)).toEqual(
      rows.slice(0, 3).map(({ nextAttemptAt }) => nextAttemptAt),
    );
  });

  it('shows a failed row and the next, pending one together at every moment', () => {
    expect(snapshots.some((seen) => seen.at(-1)?.status === 'pending')).toBe(true);
    for (const seen of snapshots) {
      for (const [i, { nextAttemptAt }] of seen.entries()) expect(nextAttemptAt !== null).toBe(i + 1 in seen);
      for (const row of seen.filter(({ status }) => status === 'pending')) {
        expect(row).toMatchObject({ responseStatus: null, error: null, completedAt: null });
      }
    }
  });

  it('gets the same bytes and webhook-id each time, and each attempt signed by itself', () => {
    for (const [i, call] of calls.entries()) {
      expect(call.body.equals(calls[0]!.body)).toBe(true);
      expect(call.headers).toMatchObject({
        'webhook-id': event.id,
        'x-service-attempt': String(i + 1),
        'x-service-delivery': rows[i]!.id,
        'x-service-signature': cryptoSignature(call.body, 'a secret of mine'),
      });
      expect(verifyStandardWebhook(call, 'a secret of mine')).toMatchObject({ id: event.id });
    }
    expect(Number(calls[3]!.headers['webhook-timestamp'])).toBeGreaterThan(
      Number(calls[0]!.headers['webhook-timestamp']),
    );
  });

  it('is called three times and not again when the third answer is 200', async () => {
    const recovering = receiver.hook({ status: 500 }, { status: 500 }, { status: 200 });
    const subscriber = await subscribe(service.api, recovering, ['job.started']);
    const rescued = await publish(service.api, 'job.started');
    const log = await settledDeliveries(service.api, subscriber, rescued);
    expect(log.map(({ attempt, status, responseStatus }) => [attempt, status, responseStatus])).toEqual([
      [1, 'failed', 500],
      [2, 'failed', 500],
      [3, 'succeeded', 200],
    ]);
    expect(log[2]).toMatchObject({ error: null, nextAttemptAt: null });
    await settledDeliveries(service.api, subscriber, await publish(service.api, 'job.started'));
    expect(recovering.calls).toHaveLength(4);
    expect((await pageOf(service.api.listDeliveries(subscriber.id))).rows).toHaveLength(4);
  });
});
