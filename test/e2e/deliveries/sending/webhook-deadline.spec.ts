import { randomBytes } from 'node:crypto';
import { dataOf, type Delivery, errorOf } from '../../../support/api';
import { cloneDatabase } from '../../../support/postgres';
import { useReceiver } from '../../../support/receiver';
import { startService, useService } from '../../../support/service';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../../stage/steps';

const NEVER = { after: new Promise(() => undefined) };

const timedOut = (withinMs: number) => ({
  status: 'failed',
  responseStatus: null,
  error: { code: 'timeout', message: expect.stringContaining(`within ${withinMs} ms`) },
});

describeOnStores('The deadline of a webhook', (store) => {
  // One attempt at a time: the second event waits for a slot, and its webhook is read once more.
  const service = useService(() => ({
    ...{ MAX_RETRIES: '1', WEBHOOK_CONCURRENCY: '1', DELIVERY_TIMEOUT_MS: '60000' },
    ...store.settings(),
  }));
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  it('holds for each attempt, first ones, those that waited for a slot, and retries', async () => {
    const webhook = await subscribe(service.api, receiver.hook(NEVER), ['job.started'], { timeoutMs: 500 });
    const events = [await publish(service.api, 'job.started'), await publish(service.api, 'job.started')];
    for (const event of events) {
      const rows = await settledDeliveries(service.api, webhook, event);
      expect(rows).toMatchObject([timedOut(500), timedOut(500)]);
      for (const { durationMs } of rows) expect(durationMs).toBeGreaterThanOrEqual(490);
    }
  });

  it('is that of the service again once it is cleared', async () => {
    const webhook = await subscribe(service.api, receiver.hook({ delayMs: 1500 }), ['job.started'], { timeoutMs: 500 });
    await dataOf(service.api.updateWebhook(webhook.id, { timeoutMs: null }));
    const [row] = await settledDeliveries(service.api, webhook, await publish(service.api, 'job.started'));
    expect(row).toMatchObject({ attempt: 1, status: 'succeeded', error: null });
    expect(row!.durationMs).toBeGreaterThanOrEqual(1490);
  });

  it('holds for tests, too', async () => {
    const webhook = await subscribe(service.api, receiver.hook(NEVER), ['job.started'], { timeoutMs: 500 });
    expect(await dataOf(service.api.testWebhook(webhook.id))).toMatchObject(timedOut(500));
  });
});

describeOnStores('A webhook with a deadline and a plan beyond settings that were lowered', (store) => {
  const receiver = useReceiver();

  it('shows what was stored, while the lower settings hold', async () => {
    const database = await cloneDatabase();
    const settings = { SECRETS_KEY: randomBytes(32).toString('base64'), ...store.settings() };
    const stored = { timeoutMs: 5000, retryDelaysMs: [1000, 1000] };
    try {
      const before = await startService(settings, database);
      const webhook = await subscribe(before.api, receiver.hook(NEVER), ['job.started'], stored);
      await before.stop();
      const lowered = await startService({ ...settings, DELIVERY_TIMEOUT_MS: '600', MAX_RETRIES: '1' }, database);
      const { api } = lowered;
      expect(await dataOf(api.updateWebhook(webhook.id, { description: 'x' }))).toMatchObject(stored);
      await errorOf(api.updateWebhook(webhook.id, { timeoutMs: 5000 }), 400);
      const rows = await settledDeliveries(api, webhook, await publish(api, 'job.started'));
      expect(rows).toMatchObject([timedOut(600), { ...timedOut(600), nextAttemptAt: null }]);
      expect(waitMs(rows[0]!)).toBeGreaterThanOrEqual(750);
      expect(await dataOf(api.readWebhook(webhook.id))).toMatchObject(stored);
      await waitFor(async () => (await dataOf(api.readWebhook(webhook.id))).consecutiveFailures === 1, {
        what: 'the failure of the event',
      });
      await lowered.stop();
    } finally {
      await database.drop();
    }
  });
});

const waitMs = ({ nextAttemptAt, completedAt }: Delivery): number =>
  Date.parse(nextAttemptAt ?? 'missing') - Date.parse(completedAt ?? 'missing');
