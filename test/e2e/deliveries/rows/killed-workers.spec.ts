import { dataOf, errorOf } from '../../../support/api';
import { insertBacklog } from '../../../support/backlog';
import { openTransaction } from '../../../support/open-transaction';
import { useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { useFleet } from '../../stage/fleet';
import { fannedOut, publish, settledDeliveries, subscribe } from '../../stage/steps';

/** Several pages, and more than a request cancels. */
const ROWS = 9000;
/** Those that it cancels. */
const AT_ONCE = 5000;
const MISSED = 3000;
const FOLLOWERS = 30_000;

describeOnStores('What workers do in pages, while they are killed', (store) => {
  const fleet = useFleet({ apis: 1, workers: 2 }, () => ({ ...store.settings(), RATE_LIMIT_PER_MINUTE: '0' }));
  const receiver = useReceiver();
  const api = () => fleet().through(fleet().apis[0]!);
  const count = async (from: string, ...values: unknown[]): Promise<number> => {
    const [row] = await fleet().database.query<{ count: number }>(`select count(*)::int as count from ${from}`, values);
    return row!.count;
  };
  const pendingOf = (webhookId: string) =>
    count(`webhook_service.deliveries where webhook_id = $1 and status = 'pending'`, webhookId);

  /** Kills the workers as soon as fewer than `total` are left, and then starts them again. */
  async function killWhileFalling(left: () => Promise<number>, total: number): Promise<void> {
    await waitFor(async () => (await left()) < total, { what: 'a page', everyMs: 5 });
    await Promise.all(fleet().workers.map(({ process }) => process.kill()));
    expect(await left()).toBeGreaterThan(0);
    await fleet().complete();
  }

  it('is canceled when a webhook is switched off, on as soon as it may, and off again', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(api(), hook, ['job.started'], { maxPerSecond: 0.1, retryDelaysMs: [] });
    await insertBacklog(fleet().database, { webhookId: webhook.id, userId: 'admin', rows: ROWS, url: hook.url });
    // Pages of a thousand rows take milliseconds: these end only when they are let go.
    const lastRow = `
      select from webhook_service.deliveries where id = any(array(
        select id from webhook_service.deliveries where webhook_id = $1 order by id desc limit 1)) for update`;
    const lock = await openTransaction(fleet().database, [lastRow, [webhook.id]]);
    await dataOf(api().updateWebhook(webhook.id, { active: false }));
    const sent = hook.calls.length;
    await killWhileFalling(() => pendingOf(webhook.id), ROWS - AT_ONCE - 1).finally(() => lock.end('rollback'));
    const activated = async () => {
      const { status } = await api().updateWebhook(webhook.id, { active: true });
      expect([200, 409]).toContain(status);
      return status === 200;
    };
    await waitFor(activated, { what: 'the end of canceling' });
    expect(await pendingOf(webhook.id)).toBe(0);
    await dataOf(api().updateWebhook(webhook.id, { active: false }));
    await dataOf(api().updateWebhook(webhook.id, { active: true, maxPerSecond: null }));
    const event = await publish(api(), 'job.started');
    await settledDeliveries(api(), webhook, event);
    expect(hook.calls.slice(sent).map(({ headers }) => headers['webhook-id'])).toEqual([event.id]);
    const { totals } = await dataOf(api().stats({ webhookId: webhook.id }));
    expect(totals).toMatchObject({ canceled: ROWS - sent, succeeded: sent + 1 });
  });

  it('ends when the webhook of a recovery is deleted', async () => {
    let goOn: (value?: unknown) => void = () => undefined;
    const hook = receiver.hook({ after: new Promise((resolve) => (goOn = resolve)) });
    const webhook = await subscribe(api(), hook, ['job.started']);
    const backlog = { webhookId: webhook.id, userId: 'admin', rows: MISSED, url: hook.url };
    await insertBacklog(fleet().database, { ...backlog, isDeferred: false });
    await fleet().database.query(
      `update webhook_service.deliveries set status = 'failed', error_code = 'http_status' where webhook_id = $1`,
      [webhook.id],
    );
    const since = new Date(Date.now() - 60_000).toISOString();
    const recovery = await dataOf(api().recover(webhook.id, { since }), 202);
    // The receiver answers nobody, so that the recovery waits after its first page.
    await hook.received(1);
    for (const { process } of fleet().workers) await process.kill();
    expect(await dataOf(api().readRecovery(webhook.id, recovery.id))).toMatchObject({ status: 'running' });
    await dataOf(api().deleteWebhook(webhook.id));
    const sent = hook.calls.length;
    await fleet().complete();
    goOn();
    const ofWebhook = (table: string) => count(`webhook_service.${table} where webhook_id = $1`, webhook.id);
    await waitFor(async () => (await ofWebhook('stopping_webhooks')) + (await pendingOf(webhook.id)) === 0, {
      what: 'the end of its deliveries',
    });
    expect(await ofWebhook('recoveries')).toBe(0);
    // Another one's event goes through the same queues, after all that they still held of this webhook.
    const other = receiver.hook();
    const another = await subscribe(api(), other, ['job.started']);
    await fannedOut(api(), await publish(api(), 'job.started'));
    await other.received(1);
    expect(hook.calls).toHaveLength(sent);
    await errorOf(api().readRecovery(webhook.id, recovery.id), 404);
    await dataOf(api().deleteWebhook(another.id));
  });

  it('deletes the followers of an account that was disconnected', async () => {
    const { id } = await dataOf(api().createAccount({ provider: 'push', handle: 'ada' }), 201);
    await fleet().database.query(
      `insert into webhook_service.account_followers (account_id, follower_id, username)
       select $1, 'id-' || i, 'user' from generate_series(1, $2::int) as i`,
      [id, FOLLOWERS],
    );
    const left = () => count('webhook_service.account_followers where account_id = $1', id);
    const lock = await openTransaction(fleet().database, [
      `select from webhook_service.account_followers where account_id = $1 order by ctid desc limit 1 for update`,
      [id],
    ]);
    expect(await dataOf(api().deleteAccount(id))).toEqual({ id });
    expect(await dataOf(api().listAccounts())).toEqual([]);
    await killWhileFalling(left, FOLLOWERS).finally(() => lock.end('rollback'));
    await waitFor(async () => (await count('webhook_service.accounts where id = $1', id)) === 0, { what: 'the end' });
    expect(await left()).toBe(0);
  });
});
