import { type CreatedWebhook, dataOf, pageOf, type Recovery } from '../../../support/api';
import { type Hook, useReceiver } from '../../../support/receiver';
import { useService } from '../../../support/service';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { fannedOut, publish, settledDeliveries, subscribe } from '../../stage/steps';

const EVENTS = 200;

describeOnStores('My receiver was down', (store) => {
  const service = useService(() => ({
    ...{ MAX_RETRIES: '1', RETRY_BASE_DELAY_MS: '10' },
    // On a real service both must hold: 20 events in a row, and 24 hours.
    ...{ DISABLE_AFTER_FAILURES: '20', DISABLE_AFTER_HOURS: '0' },
    ...store.settings(),
  }));
  const receiver = useReceiver();

  const read = (webhook: CreatedWebhook) => dataOf(service.api.readWebhook(webhook.id));
  /** The events that the receiver has accepted, each as often as it did. */
  const accepted = (hook: Hook, upTo: number) => hook.calls.slice(upTo).map(({ headers }) => headers['webhook-id']);

  it('and still it ends with each event exactly once', async () => {
    const { api } = service;
    const [shop, pager] = [receiver.hook(), receiver.hook()];
    const webhook = await subscribe(api, shop, ['operation.*']);
    await subscribe(api, pager, ['webhook.disabled']);

    // All is well, until the receiver breaks at noon.
    const before = await publish(api, 'operation.complete');
    await settledDeliveries(api, webhook, before);
    shop.answer({ status: 500 });

    // Two hundred events happen. Some fail for good, and the webhook is disabled: the rest is canceled or never sent.
    const events = [];
    for (let i = 0; i < EVENTS; i++) events.push(await publish(api, 'operation.complete'));
    await waitFor(async () => !(await read(webhook)).active, { what: 'the end of the webhook' });
    expect(await read(webhook)).toMatchObject({ active: false, disabledReason: 'failing' });
    for (const event of events) await fannedOut(api, event);
    const pending = () => pageOf(api.listDeliveries(webhook.id, { status: 'pending' }));
    await waitFor(async () => (await pending()).rows.length === 0, { what: 'the last outcome' });

    // Its owner is told, where he still listens, and sees what happened.
    const [alarm] = await pager.received(1);
    expect(JSON.parse(alarm!.body.toString())).toMatchObject({
      event: 'webhook.disabled',
      data: { webhookId: webhook.id, url: new URL(shop.url).origin, reason: 'failing' },
    });
    const { rows: failures } = await pageOf(api.listDeliveries(webhook.id, { status: 'failed', limit: 250 }));
    expect(failures.length).toBeGreaterThanOrEqual(20);

    // He repairs the receiver, tries it with a test, and activates the webhook.
    shop.answer({ status: 200 });
    expect(await dataOf(api.testWebhook(webhook.id))).toMatchObject({ status: 'succeeded' });
    const revived = await dataOf(api.updateWebhook(webhook.id, { active: true }));
    expect(revived).toMatchObject({ active: true, disabledReason: null, consecutiveFailures: 0 });
    const repairedAt = shop.calls.length;

    // Nothing comes by itself. How much is missing since noon? He counts, and has it sent.
    const since = events[0]!.createdAt;
    expect(await dataOf(api.recover(webhook.id, { since, dryRun: true }))).toEqual({ count: EVENTS });
    expect(accepted(shop, repairedAt)).toEqual([]);
    const { id } = (await dataOf(api.recover(webhook.id, { since }), 202)) as Recovery;
    const recovery = await waitFor(
      async () => {
        const now = await dataOf(api.readRecovery(webhook.id, id));
        return now.status === 'done' && now;
      },
      { what: 'the end of the recovery' },
    );
    expect(recovery).toMatchObject({ count: EVENTS, queued: EVENTS });

    // Each event has come home once, new ones come as ever, and there is nothing left to recover.
    await shop.received(repairedAt + EVENTS);
    const after = await publish(api, 'operation.failed');
    await settledDeliveries(api, webhook, after);
    expect(accepted(shop, repairedAt).sort()).toEqual([...events, after].map((event) => event.id).sort());
    expect(await dataOf(api.recover(webhook.id, { since, dryRun: true }))).toEqual({ count: 0 });
    expect(pager.calls).toHaveLength(1);
  });
});
