import { dataOf, type Delivery } from '../../../support/api';
import { JobQueue } from '../../../support/job-queue';
import { type Hook, useReceiver } from '../../../support/receiver';
import { useService } from '../../../support/service';
import { cryptoSignature } from '../../../support/signatures';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { deleteWebhooks, deliveriesOf, publish, settledDeliveries, subscribe } from '../../stage/steps';

describeOnStores('Between two attempts', (store) => {
  // An hour, which is over when a test says so.
  const service = useService(() => ({
    RETRY_BASE_DELAY_MS: '3600000',
    RETRY_JITTER: '0',
    QUEUE_PREFIX: 'bull',
    ...store.settings(),
  }));
  const receiver = useReceiver();
  let queue: JobQueue;
  beforeAll(() => {
    const { REDIS_URL: redisUrl } = store.settings();
    queue = JobQueue.open('{send-0}', { redisUrl, databaseUrl: service.database.url, schema: 'webhook_service_queue' });
  });
  afterAll(() => queue.close());
  afterEach(() => deleteWebhooks(service.api));

  /** A webhook whose first attempt has failed and whose second one is pending. */
  async function afterFirstFailure(hook: Hook, secret = 'a secret of mine') {
    const webhook = await subscribe(service.api, hook, ['job.completed'], { secret });
    const event = await publish(service.api, 'job.completed');
    const pending = await waitFor(async () => (await deliveriesOf(service.api, webhook, event))[1], {
      what: 'a pending second attempt',
    });
    expect(pending).toMatchObject({ attempt: 2, status: 'pending', waitsFor: 'backoff', attemptedAt: null });
    return { webhook, event, pending };
  }

  /** Lets the time of the pending attempt come, and its job with it; whatever the job does is done afterwards. */
  async function passDueTime({ id }: Delivery): Promise<void> {
    await service.database.query('update webhook_service.deliveries set scheduled_at = now() where id = $1', [id]);
    const stateIs = (state: string) => async () => (await queue.bull.getJobState(id)) === state;
    await waitFor(stateIs('delayed'), { what: 'the job of the attempt' });
    await (await queue.bull.getJob(id))!.promote();
    await waitFor(stateIs('unknown'), { what: 'the end of the job' });
  }

  it('a webhook that is deleted is not called again, and what was pending is canceled', async () => {
    const hook = receiver.hook({ status: 500 });
    const { webhook, pending } = await afterFirstFailure(hook);
    await dataOf(service.api.deleteWebhook(webhook.id));
    await passDueTime(pending);
    const rows = await service.database.query(
      'select status, error_code from webhook_service.deliveries where webhook_id = $1 order by attempt',
      [webhook.id],
    );
    expect(rows).toEqual([
      { status: 'failed', error_code: 'http_status' },
      { status: 'canceled', error_code: 'webhook_deleted' },
    ]);
    expect(hook.calls).toHaveLength(1);
  });

  it('a webhook that is deactivated is not called again, nor when it is activated before the retry is due', async () => {
    const hook = receiver.hook({ status: 500 });
    const { webhook, event, pending } = await afterFirstFailure(hook);
    await dataOf(service.api.updateWebhook(webhook.id, { active: false }));
    const rows = await settledDeliveries(service.api, webhook, event, 'the cancellation');
    expect(rows).toMatchObject([
      { status: 'failed' },
      { status: 'canceled', error: { code: 'webhook_disabled', message: expect.any(String) }, responseStatus: null },
    ]);
    await dataOf(service.api.updateWebhook(webhook.id, { active: true }));
    await passDueTime(pending);
    expect(hook.calls).toHaveLength(1);
    const [failed, canceled] = rows;
    expect(await deliveriesOf(service.api, webhook, event)).toEqual([
      failed,
      { ...canceled, scheduledAt: expect.any(String) },
    ]);
  });

  it('a new url and a new secret count for the attempt that is pending', async () => {
    const [before, after] = [receiver.hook({ status: 500 }), receiver.hook()];
    const { webhook, event, pending } = await afterFirstFailure(before);
    await dataOf(service.api.updateWebhook(webhook.id, { url: after.url, secret: 'another secret' }));
    await passDueTime(pending);
    const [call] = await after.received(1);
    expect(call!.headers['x-service-signature']).toBe(cryptoSignature(call!.body, 'another secret'));
    expect(call!.headers).not.toHaveProperty('x-service-signature-previous');
    const rows = await settledDeliveries(service.api, webhook, event);
    expect(rows).toMatchObject([
      { status: 'failed', url: before.url },
      { status: 'succeeded', url: after.url },
    ]);
    expect(before.calls).toHaveLength(1);
  });

  it('a webhook that no longer subscribes to the event still gets what is pending', async () => {
    const hook = receiver.hook({ status: 500 }, { status: 200 });
    const { webhook, event, pending } = await afterFirstFailure(hook);
    await dataOf(service.api.updateWebhook(webhook.id, { events: ['job.started'] }));
    await passDueTime(pending);
    expect(await settledDeliveries(service.api, webhook, event)).toMatchObject([
      { status: 'failed' },
      { status: 'succeeded' },
    ]);
  });
});
