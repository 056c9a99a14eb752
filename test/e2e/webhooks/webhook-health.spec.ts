import { type Api, type CreatedWebhook, dataOf, pageOf } from '../../support/api';
import { type Hook, type ReceivedCall, useReceiver } from '../../support/receiver';
import { startService, useService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { ISO_UTC } from '../stage/examples';
import { deleteWebhooks, publish, settledDeliveries, subscribe } from '../stage/steps';

const SECRETS_KEY = Buffer.alloc(32, 1).toString('base64');
const bodyOf = (call: ReceivedCall) => JSON.parse(call.body.toString()) as { data: Record<string, unknown> };

describeOnStores('The health of a webhook', (store) => {
  const settings = () => ({
    ...{ MAX_RETRIES: '1', RETRY_BASE_DELAY_MS: '10', RETRY_FACTOR: '1' },
    ...{ DISABLE_AFTER_FAILURES: '3', DISABLE_AFTER_HOURS: '1' },
    // Two processes open what either has sealed.
    SECRETS_KEY,
    ...store.settings(),
  });
  const service = useService(settings);
  const receiver = useReceiver();
  let api: Api;
  beforeAll(async () => {
    api = service.api;
  });
  afterEach(() => deleteWebhooks(api));

  const read = (webhook: CreatedWebhook) => dataOf(api.readWebhook(webhook.id));

  /** Publishes one event and waits for its end. */
  async function deliver(webhook: CreatedWebhook) {
    const event = await publish(api, 'job.started');
    return settledDeliveries(api, webhook, event);
  }

  async function hasFailures(webhook: CreatedWebhook, count: number): Promise<void> {
    const what = `a count of ${count}`;
    await waitFor(async () => (await read(webhook)).consecutiveFailures === count, { what });
  }

  /** As if neither a success nor an activation had come for so long. */
  const unhealthyFor = (webhook: CreatedWebhook, time: string) =>
    service.database.query(`update webhook_service.webhooks set healthy_at = now() - $2::interval where id = $1`, [
      webhook.id,
      time,
    ]);

  it('is a count of the events in a row that ran out of retries, which any success clears', async () => {
    const hook = receiver.hook({ status: 500 });
    const webhook = await subscribe(api, hook, ['job.started']);
    const [first] = await deliver(webhook);
    await hasFailures(webhook, 1);
    await deliver(webhook);
    await hasFailures(webhook, 2);
    hook.answer({ status: 200 });
    await dataOf(api.redeliver(webhook.id, first!.id), 202);
    await hasFailures(webhook, 0);
  });

  it('counts a redelivery that runs out of retries like a first delivery, and a test never', async () => {
    const webhook = await subscribe(api, receiver.hook({ status: 500 }), ['job.started']);
    const [first] = await deliver(webhook);
    await dataOf(api.testWebhook(webhook.id));
    await hasFailures(webhook, 1);
    await dataOf(api.redeliver(webhook.id, first!.id), 202);
    await hasFailures(webhook, 2);
  });

  it.each([
    ['a new url', (url: string) => ({ url: `${url}/new`, active: true })],
    ['an activation', () => ({ active: true })],
  ])('does not suffer from a 410 to an attempt that began before %s', async (_, changes) => {
    let answer: () => void = () => undefined;
    const hook = receiver.hook({ status: 410, after: new Promise<void>((resolve) => (answer = resolve)) });
    const webhook = await subscribe(api, hook, ['job.started']);
    const event = await publish(api, 'job.started');
    await hook.received(1);
    await dataOf(api.updateWebhook(webhook.id, changes(webhook.url)));
    answer();
    expect(await settledDeliveries(api, webhook, event)).toMatchObject([{ status: 'failed', responseStatus: 410 }]);
    expect(await read(webhook)).toMatchObject({ active: true, disabledReason: null, consecutiveFailures: 0 });
  });

  it('disables it when both thresholds hold: not before the count, and not before the time', async () => {
    const webhook = await subscribe(api, receiver.hook({ status: 500 }), ['job.started']);
    for (let i = 1; i <= 4; i++) {
      await deliver(webhook);
      await hasFailures(webhook, i);
      const inMs = Date.parse(webhook.createdAt) + 3_600_000;
      const { disablesAt } = await read(webhook);
      if (i < 3) expect(disablesAt).toBeNull();
      else expect(Math.abs(Date.parse(disablesAt!) - inMs)).toBeLessThan(1000);
    }
    expect(await read(webhook)).toMatchObject({ active: true });
    await unhealthyFor(webhook, '61 minutes');
    await deliver(webhook);
    const disabled = () => read(webhook).then(({ active }) => !active);
    await waitFor(disabled, { what: 'the end of the webhook' });
    expect(await read(webhook)).toMatchObject({ active: false, disabledReason: 'failing', consecutiveFailures: 5 });
  });

  it('does not forget a success that had nothing to clear', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started']);
    await deliver(webhook);
    await unhealthyFor(webhook, '1 day');
    hook.answer({ status: 500 });
    for (let i = 1; i <= 3; i++) {
      await deliver(webhook);
      await hasFailures(webhook, i);
    }
    await deliver(webhook);
    await hasFailures(webhook, 4);
    const { active, lastSuccessAt, disablesAt } = await read(webhook);
    expect(active).toBe(true);
    expect(Date.parse(disablesAt!) - Date.parse(lastSuccessAt!)).toBe(3_600_000);
  });

  it('starts clean when its owner activates it', async () => {
    const webhook = await subscribe(api, receiver.hook({ status: 410 }), ['job.started']);
    await deliver(webhook);
    await waitFor(async () => !(await read(webhook)).active, { what: 'the end of the webhook' });
    const revived = await dataOf(api.updateWebhook(webhook.id, { active: true }));
    expect(revived).toMatchObject({ active: true, disabledReason: null, consecutiveFailures: 0 });
    const rows = await service.database.query(
      `select healthy_at > now() - interval '1 minute' as fresh from webhook_service.webhooks where id = $1`,
      [webhook.id],
    );
    expect(rows).toEqual([{ fresh: true }]);
  });

  it('starts clean, too, when it was active still', async () => {
    const webhook = await subscribe(api, receiver.hook({ status: 500 }), ['job.started']);
    await deliver(webhook);
    await hasFailures(webhook, 1);
    expect(await dataOf(api.updateWebhook(webhook.id, { active: true }))).toMatchObject({ consecutiveFailures: 0 });
  });

  it('revives no attempt that was left over when it was disabled', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started']);
    const [row] = await deliver(webhook);
    await dataOf(api.updateWebhook(webhook.id, { active: false }));
    await service.database.query(
      `update webhook_service.deliveries set status = 'pending', scheduled_at = now() + interval '1 hour' where id = $1`,
      [row!.id],
    );
    await dataOf(api.updateWebhook(webhook.id, { active: true }));
    expect(await dataOf(api.readDelivery(webhook.id, row!.id))).toMatchObject({
      status: 'canceled',
      error: { code: 'webhook_disabled' },
    });
  });

  it('has no reason when its owner deactivates it, and sends no notice', async () => {
    const witness = receiver.hook();
    await subscribe(api, witness, ['webhook.disabled', 'follower.lost']);
    const webhook = await subscribe(api, receiver.hook(), ['job.started']);
    expect(await dataOf(api.updateWebhook(webhook.id, { active: false }))).toMatchObject({ disabledReason: null });
    await publish(api, 'follower.lost');
    const [call] = await witness.received(1);
    expect(call!.headers['x-service-event']).toBe('follower.lost');
  });

  describe('whose receiver answers 410', () => {
    let witness: Hook;
    let gone: Hook;
    let webhook: CreatedWebhook;
    beforeEach(async () => {
      [witness, gone] = [receiver.hook(), receiver.hook({ status: 410 })];
      await subscribe(api, witness, ['webhook.disabled']);
      webhook = await subscribe(api, { url: `${gone.url}?token=hidden` }, ['job.started', 'webhook.disabled']);
    });

    it('ends at once, without a retry, and its owner is told elsewhere', async () => {
      const rows = await deliver(webhook);
      expect(rows).toMatchObject([{ status: 'failed', responseStatus: 410, nextAttemptAt: null }]);
      const [call] = await witness.received(1);
      expect(bodyOf(call!).data).toEqual({
        webhookId: webhook.id,
        url: new URL(gone.url).origin,
        reason: 'gone',
        disabledAt: expect.stringMatching(ISO_UTC),
      });
      expect(await read(webhook)).toMatchObject({ active: false, disabledReason: 'gone' });
      expect(gone.calls).toHaveLength(1);
    });

    it('stays as it is when that was a test', async () => {
      expect(await dataOf(api.testWebhook(webhook.id))).toMatchObject({ responseStatus: 410 });
      expect(await read(webhook)).toMatchObject({ active: true, disabledReason: null, consecutiveFailures: 0 });
    });

    it('notifies only its owner', async () => {
      const bob = await service.apiFor('bob');
      const foreign = receiver.hook();
      await subscribe(bob, foreign, ['*']);
      await deliver(webhook);
      await witness.received(1);
      await publish(bob, 'job.started');
      const [call] = await foreign.received(1);
      expect(call!.headers['x-service-event']).toBe('job.started');
      await deleteWebhooks(bob);
    });
  });

  it('ends once, however many deliveries fail at the same moment in two processes', async () => {
    const second = await startService(settings(), service.database);
    try {
      let answerAll: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (answerAll = resolve));
      const failing = receiver.hook({ status: 500, after: held });
      const witness = receiver.hook();
      await subscribe(api, witness, ['webhook.disabled']);
      const webhook = await subscribe(api, failing, ['job.started']);
      await unhealthyFor(webhook, '2 hours');
      for (let i = 0; i < 40; i++) await publish(api, 'job.started');
      await failing.received(40);
      answerAll();
      await witness.received(1);
      const settled = async () =>
        (await pageOf(api.listDeliveries(webhook.id, { status: 'pending' }))).rows.length === 0;
      await waitFor(settled, { what: 'the last outcome' });
      const events = await pageOf(api.listEvents({ event: 'webhook.disabled', since: webhook.createdAt }));
      expect(events.rows.map(({ data }) => data.webhookId)).toEqual([webhook.id]);
      expect(await read(webhook)).toMatchObject({ active: false, disabledReason: 'failing' });
    } finally {
      expect(await second.stop()).toBe(0);
    }
  });
});
