import { type Api, type CreatedWebhook, dataOf } from '../../../support/api';
import { type Hook, useReceiver } from '../../../support/receiver';
import { useService } from '../../../support/service';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { EXAMPLES } from '../../stage/examples';
import { deleteWebhooks, fannedOut, subscribe } from '../../stage/steps';

const MOST = 1000;
const EVENTS = 1500;

describeOnStores('A webhook with MAX_PENDING_PER_WEBHOOK pending deliveries', (store) => {
  const service = useService(() => ({
    ...{ MAX_PENDING_PER_WEBHOOK: String(MOST), RETRY_BASE_DELAY_MS: '600000' },
    ...store.settings(),
  }));
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  const totalsOf = async (api: Api, { id }: CreatedWebhook) => (await dataOf(api.stats({ webhookId: id }))).totals;

  /** Publishes 1,500 events, and returns how many deliveries of the webhook were canceled. */
  async function publishTooMany(webhook: CreatedWebhook): Promise<number> {
    const { api } = service;
    const batch = {
      events: Array.from({ length: 100 }, () => ({ event: 'job.started', data: EXAMPLES['job.started'] })),
    };
    for (let i = 0; i < EVENTS; i += 100) {
      const events = await dataOf(api.publishBatch(batch), 202);
      await fannedOut(api, events.at(-1)!);
    }
    const { canceled, byError } = await totalsOf(api, webhook);
    expect(byError.backlog_full).toBe(canceled);
    return canceled;
  }

  async function recoverAll(webhook: CreatedWebhook, hook: Hook): Promise<void> {
    const since = new Date(Date.now() - 600_000).toISOString();
    await dataOf(service.api.recover(webhook.id, { since }), 202);
    const isAll = () => new Set(hook.calls.map(({ headers }) => headers['webhook-id'])).size === EVENTS;
    await waitFor(isAll, { what: 'every event' });
  }

  it('gets no more of them, and recover sends what was canceled', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], { maxPerSecond: 0.1 });
    const canceled = await publishTooMany(webhook);
    // The rows are counted now and then.
    expect(canceled).toBeGreaterThan(EVENTS - MOST - 350);
    expect(canceled).toBeLessThanOrEqual(EVENTS - MOST);
    await dataOf(service.api.updateWebhook(webhook.id, { maxPerSecond: null }));
    await hook.received(EVENTS - canceled);
    await recoverAll(webhook, hook);
  });

  it('gets no more of them while its retries wait, and other webhooks go on', async () => {
    const [hook, other] = [receiver.hook({ status: 500 }), receiver.hook()];
    const webhook = await subscribe(service.api, hook, ['job.started']);
    await subscribe(service.api, other, ['job.started']);
    const canceled = await publishTooMany(webhook);
    expect(canceled).toBeGreaterThan(EVENTS - MOST - 350);
    await hook.received(EVENTS - canceled);
    await other.received(EVENTS);
    expect(hook.calls).toHaveLength(EVENTS - canceled);
  });
});
