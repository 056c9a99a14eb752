import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { ConsumerLeasesRepository } from '../../../../src/deliveries/pulling/consumer-leases.repository';
import type { Outcome, PartitionKey } from '../../../../src/deliveries/rows/attempt';
import { WaitingRowsRepository } from '../../../../src/deliveries/rows/waiting-rows.repository';
import { ClaimsRepository } from '../../../../src/deliveries/rows/claims.repository';
import { OutcomesRepository } from '../../../../src/deliveries/rows/outcomes.repository';
import { WebhookHealthService } from '../../../../src/webhooks/webhook-health.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { openTransaction } from '../../../support/open-transaction';
import { useApplication } from '../../stage/application';
import { insertDueDelivery } from '../../stage/due-delivery';

const URL = 'http://127.0.0.1:9/';
const GONE = { url: URL, attemptedAt: new Date(Date.now() + 60_000), succeeded: false, isAboutWebhooks: false };

const failed = (deliveryId: string): Outcome => ({
  deliveryId,
  status: 'failed',
  error: { code: 'timeout', message: 'x' },
  exchange: null,
  retryInMs: 60_000,
  finalStatus: null,
});

describe('A row that another transaction has locked', () => {
  const { app, database } = useApplication();

  async function pending(): Promise<{ id: string; key: PartitionKey }> {
    const userId = `user-${randomUUID()}`;
    const { webhook } = await app.get(WebhooksService).create(userId, { url: URL, events: ['job.started'] });
    const key = { userId, webhookId: webhook.id };
    return { id: await insertDueDelivery(database, key, URL, { leased: '1 hour' }), key };
  }

  /** Returns the result of the action while the row is locked; `'waits'` when the action waits for the lock. */
  async function whileLocked(
    table: 'deliveries' | 'webhooks',
    id: string,
    action: () => Promise<unknown>,
  ): Promise<unknown> {
    const open = await openTransaction(database, [
      `select from webhook_service.${table} where id = $1 for update`,
      [id],
    ]);
    let isAnswered = false;
    const answer = action().finally(() => (isAnswered = true));
    try {
      await open.waitedFor(1, () => isAnswered);
      return isAnswered ? await answer : 'waits';
    } finally {
      await open.end('rollback');
      await answer;
    }
  }

  it('does not block claims', async () => {
    const { id } = await pending();
    const claim = () => app.get(ClaimsRepository).claim(id);
    expect(await whileLocked('deliveries', id, claim)).toBeNull();
    expect(await claim()).toMatchObject({ id });
  });

  it('does not block deferrals', async () => {
    const { id } = await pending();
    const defer = () => app.get(WaitingRowsRepository).defer(id);
    expect(await whileLocked('deliveries', id, defer)).toBeNull();
    expect(await defer()).toEqual({ id, maxPerSecond: null });
  });

  it.each([
    ['extensions of leases', (ids: string[]) => app.get(ClaimsRepository).extendLeases(ids)],
    ['releases of leases', (ids: string[]) => app.get(WaitingRowsRepository).releaseLeases(ids)],
  ])('does not block %s', async (_, change) => {
    const { id } = await pending();
    expect(await whileLocked('deliveries', id, () => change([id]))).toBeUndefined();
  });

  it.each(['deliveries', 'webhooks'] as const)('of %s does not block outcomes', async (table) => {
    const { id, key } = await pending();
    const record = () => app.get(OutcomesRepository).update(failed(id));
    const locked = table === 'deliveries' ? id : key.webhookId;
    expect(await whileLocked(table, locked, record)).toBe('busy');
    expect(await record()).toMatchObject({ status: 'failed', nextInMs: 60_000 });
  });

  it('does not block leases of a consumer, which is noted later', async () => {
    const { webhook } = await app.get(WebhooksService).create('consumer', { kind: 'pull', events: ['job.started'] });
    const noted = async () => {
      const [row] = await database.query<{ noted: boolean }>(
        'select last_leased_at is not null as noted from webhook_service.webhooks where id = $1',
        [webhook.id],
      );
      return row!.noted;
    };
    const note = () => app.get(ConsumerLeasesRepository).noteConsumer(webhook.id, null);
    expect(await whileLocked('webhooks', webhook.id, note)).toBeUndefined();
    expect(await noted()).toBe(false);
    await note();
    expect(await noted()).toBe(true);
  });

  it('does not block disabling its webhook', async () => {
    const { key } = await pending();
    const { webhookId } = key;
    const disable = () =>
      app
        .get(DataSource)
        .transaction((manager) => app.get(WebhookHealthService).disable(manager, { ...GONE, webhookId }, 'gone', null));
    expect(await whileLocked('webhooks', webhookId, disable)).toBe('busy');
    expect(await disable()).toMatchObject({ url: URL });
  });
});
