import { type CreatedWebhook, dataOf, type Delivery, errorOf } from '../../../support/api';
import { openTransaction } from '../../../support/open-transaction';
import { type Hook, useReceiver } from '../../../support/receiver';
import { useService } from '../../../support/service';
import { cryptoSignature, verifyStandardWebhook } from '../../../support/signatures';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { UNKNOWN_ID, UUID_V7 } from '../../stage/examples';
import { deleteWebhooks, deliveriesOf, publish, settledDeliveries, subscribe } from '../../stage/steps';

const SECRET = 'a secret of mine';

/** A pending redelivery of the webhook's one event, without a job. */
const INSERT_COPY = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
  select overlay(id::text placing 'ffffffffffff' from 25)::uuid, webhook_id, user_id, event_id, event, url, 1, 'redelivery',
         'pending', now() + $2::interval, now() + $2::interval
  from webhook_service.deliveries where webhook_id = $1`;

describeOnStores('Redelivering', (store) => {
  const service = useService(() => ({ MAX_RETRIES: '1', RETRY_BASE_DELAY_MS: '50', ...store.settings() }));
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  /** A webhook and the settled log of one event. */
  async function delivered(hook: Hook): Promise<{ webhook: CreatedWebhook; event: { id: string }; rows: Delivery[] }> {
    const webhook = await subscribe(service.api, hook, ['job.completed'], { secret: SECRET });
    const event = await publish(service.api, 'job.completed');
    return { webhook, event, rows: await settledDeliveries(service.api, webhook, event) };
  }

  it('answers a new attempt of the same event and sends the same bytes, signed anew', async () => {
    const hook = receiver.hook({ status: 500 }, { status: 500 }, { status: 200 });
    const { webhook, event, rows } = await delivered(hook);
    const signedInAnotherSecond = () => Date.now() - hook.calls[0]!.receivedAt > 1000;
    await waitFor(signedInAnotherSecond, { what: 'another second' });
    const row = await dataOf(service.api.redeliver(webhook.id, rows[0]!.id), 202);
    expect(row).toMatchObject({
      id: expect.stringMatching(UUID_V7),
      ...{ webhookId: webhook.id, eventId: event.id, event: 'job.completed', url: hook.url },
      ...{ attempt: 1, trigger: 'redelivery', status: 'pending', error: null, attemptedAt: null },
    });
    const log = await settledDeliveries(service.api, webhook, event);
    expect(log.map(({ id, status }) => [id, status])).toEqual([
      [rows[0]!.id, 'failed'],
      [rows[1]!.id, 'failed'],
      [row.id, 'succeeded'],
    ]);
    const [first, , again] = hook.calls;
    expect(again!.body.equals(first!.body)).toBe(true);
    expect(again!.headers).toMatchObject({
      'webhook-id': event.id,
      'x-service-delivery': row.id,
      'x-service-attempt': '1',
      'x-service-trigger': 'redelivery',
      'x-service-signature': cryptoSignature(first!.body, SECRET),
    });
    expect(Number(again!.headers['webhook-timestamp'])).toBeGreaterThan(Number(first!.headers['webhook-timestamp']));
    verifyStandardWebhook(again!, SECRET);
  });

  it('is retried like a first delivery', async () => {
    const hook = receiver.hook({ status: 200 }, { status: 500 }, { status: 200 });
    const { webhook, event, rows } = await delivered(hook);
    await dataOf(service.api.redeliver(webhook.id, rows[0]!.id), 202);
    const log = await settledDeliveries(service.api, webhook, event);
    expect(log.map(({ trigger, attempt, status }) => [trigger, attempt, status])).toEqual([
      ['event', 1, 'succeeded'],
      ['redelivery', 1, 'failed'],
      ['redelivery', 2, 'succeeded'],
    ]);
  });

  it('goes to the url of today, also to a webhook that no longer subscribes to the event', async () => {
    const { webhook, rows } = await delivered(receiver.hook());
    const moved = receiver.hook();
    await dataOf(service.api.updateWebhook(webhook.id, { url: moved.url, events: ['follower.lost'] }));
    await dataOf(service.api.redeliver(webhook.id, rows[0]!.id), 202);
    await moved.received(1);
  });

  it('is won by one of twenty at once, and refused while an attempt is pending', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const hook = receiver.hook({ status: 200 }, { after: held });
    const { webhook, event, rows } = await delivered(hook);
    try {
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => service.api.redeliver(webhook.id, rows[0]!.id)),
      );
      const count = (status: number) => replies.filter((reply) => reply.status === status).length;
      expect([count(202), count(409)]).toEqual([1, 19]);
      const [, pending] = await deliveriesOf(service.api, webhook, event);
      expect(await errorOf(service.api.redeliver(webhook.id, pending!.id), 409)).toMatch(/pending/);
    } finally {
      release();
    }
    expect(await settledDeliveries(service.api, webhook, event)).toHaveLength(2);
    expect(hook.calls).toHaveLength(2);
  });

  /** A webhook with a delivery that waits for its time, an hour ahead, and has no job. */
  async function waiting(hook: Hook) {
    const { webhook, event, rows } = await delivered(hook);
    await service.database.query(INSERT_COPY, [webhook.id, '1 hour']);
    const [, pending] = await deliveriesOf(service.api, webhook, event);
    expect(pending).toMatchObject({ status: 'pending', waitsFor: 'backoff' });
    return { webhook, event, settled: rows[0]!, pending: pending! };
  }

  it('makes a delivery that waits for its time due now, for one of ten at once', async () => {
    let answer: () => void = () => undefined;
    const hook = receiver.hook({}, { after: new Promise<void>((resolve) => (answer = resolve)) });
    const { webhook, event, settled, pending } = await waiting(hook);
    expect(await errorOf(service.api.redeliver(webhook.id, settled.id), 'delivery_pending')).toMatch(/pending/);
    const replies = await Promise.all(Array.from({ length: 10 }, () => service.api.redeliver(webhook.id, pending.id)));
    const made = replies.flatMap((reply) => (reply.success ? [reply] : []));
    expect(made).toMatchObject([
      { status: 200, data: { id: pending.id, attempt: pending.attempt, status: 'pending' } },
    ]);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(9);
    answer();
    const [, sent] = await settledDeliveries(service.api, webhook, event);
    expect(sent).toMatchObject({ id: pending.id, status: 'succeeded', scheduledAt: made[0]!.data.scheduledAt });
    expect(hook.calls).toHaveLength(2);
  });

  it('leaves a pending delivery of an inactive webhook alone', async () => {
    const { webhook, pending } = await waiting(receiver.hook());
    await service.database.query('update webhook_service.webhooks set active = false where id = $1', [webhook.id]);
    expect(await errorOf(service.api.redeliver(webhook.id, pending.id), 409)).toMatch(/inactive/);
    await service.database.query(`update webhook_service.deliveries set status = 'canceled' where id = $1`, [
      pending.id,
    ]);
  });

  it('waits for another one of the same webhook that has not committed yet', async () => {
    const { webhook, rows } = await delivered(receiver.hook());
    const other = await openTransaction(
      service.database,
      ['select from webhook_service.webhooks where id = $1 for no key update', [webhook.id]],
      [INSERT_COPY, [webhook.id, '1 hour']],
    );
    let settled = false;
    const reply = service.api.redeliver(webhook.id, rows[0]!.id).finally(() => (settled = true));
    await other.waitedFor(1, () => settled);
    await other.end('commit');
    expect(await errorOf(reply, 409)).toMatch(/pending/);
  });

  it('is refused for an inactive webhook', async () => {
    const { webhook, event, rows } = await delivered(receiver.hook());
    await dataOf(service.api.updateWebhook(webhook.id, { active: false }));
    expect(await errorOf(service.api.redeliver(webhook.id, rows[0]!.id), 'webhook_inactive')).toMatch(/inactive/);
    expect(await deliveriesOf(service.api, webhook, event)).toHaveLength(1);
  });

  it('is refused for an event past retention, and for a test', async () => {
    const { webhook, event, rows } = await delivered(receiver.hook());
    const test = await dataOf(service.api.testWebhook(webhook.id));
    expect(await errorOf(service.api.redeliver(webhook.id, test.id), 'test_not_redeliverable')).toMatch(/test/);
    await service.database.query('delete from webhook_service.events where id = $1', [event.id]);
    expect(await errorOf(service.api.redeliver(webhook.id, rows[0]!.id), 'event_expired')).toMatch(/retention/);
  });

  it('knows only deliveries of its own webhook, and only their owner', async () => {
    const [one, other] = [await delivered(receiver.hook()), await delivered(receiver.hook())];
    const unknown = await errorOf(service.api.redeliver(one.webhook.id, UNKNOWN_ID), 404);
    expect(await errorOf(service.api.redeliver(one.webhook.id, other.rows[0]!.id), 404)).toBe(unknown);
    const stranger = await service.apiFor('mallory');
    await errorOf(stranger.redeliver(one.webhook.id, one.rows[0]!.id), 404);
    await errorOf(service.api.redeliver(one.webhook.id, 'not-a-uuid'), 400);
    const reader = await service.apiFor('admin', ['deliveries:read']);
    expect(await errorOf(reader.redeliver(one.webhook.id, one.rows[0]!.id), 403)).toContain('webhooks:write');
  });

  it('is sent although its reminder was lost', async () => {
    const hook = receiver.hook();
    const { webhook, event } = await delivered(hook);
    // What a process leaves behind that dies between the row and the queue.
    await service.database.query(INSERT_COPY, [webhook.id, '0']);
    await hook.received(2);
    expect(await settledDeliveries(service.api, webhook, event)).toMatchObject([
      { trigger: 'event' },
      { trigger: 'redelivery', status: 'succeeded' },
    ]);
  });
});
