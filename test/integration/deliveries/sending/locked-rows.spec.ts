import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import type { Outcome } from '../../../../src/deliveries/attempt';
import { DeliveriesRepository } from '../../../../src/deliveries/deliveries.repository';
import type { Lane } from '../../../../src/deliveries/lane';
import { ClaimsRepository } from '../../../../src/deliveries/sending/claims.repository';
import { ParkedRepository } from '../../../../src/deliveries/slots/parked.repository';
import { WebhookHealthService } from '../../../../src/webhooks/webhook-health.service';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { openTransaction } from '../../../support/open-transaction';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { startApplication, stopApplication } from '../../stage/application';
import { insertDueDelivery } from '../../stage/due-delivery';

const URL = 'http://127.0.0.1:9/';
const GONE = { url: URL, attemptedAt: new Date(Date.now() + 60_000), succeeded: false };

const failed = (deliveryId: string): Outcome => ({
  deliveryId,
  status: 'failed',
  error: { code: 'timeout', message: 'x' },
  exchange: null,
  retryInMs: 60_000,
  ending: null,
});

describe('A row that somebody has locked', () => {
  let database: TestDatabase;
  let app: NestFastifyApplication;

  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, []);
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });

  async function pending(): Promise<{ id: string; lane: Lane }> {
    const userId = `user-${randomUUID()}`;
    const { webhook } = await app.get(WebhooksService).create(userId, { url: URL, events: ['job.started'] });
    const lane = { userId, webhookId: webhook.id };
    return { id: await insertDueDelivery(database, lane, URL, { leased: '1 hour' }), lane };
  }

  /** What the action answers while somebody has locked the row; `'waits'` when it waits for the lock. */
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

  it('is not waited for by claims', async () => {
    const { id } = await pending();
    const claim = () => app.get(ClaimsRepository).claim([id]);
    expect(await whileLocked('deliveries', id, claim)).toEqual([null]);
    expect(await claim()).toEqual([expect.objectContaining({ id })]);
  });

  it('is not waited for by parking', async () => {
    const { id } = await pending();
    const park = () => app.get(ParkedRepository).park([id]);
    expect(await whileLocked('deliveries', id, park)).toEqual([false]);
    expect(await park()).toEqual([true]);
  });

  it.each(['extendLeases', 'releaseLeases'] as const)('is not waited for by %s', async (name) => {
    const { id } = await pending();
    expect(await whileLocked('deliveries', id, () => app.get(DeliveriesRepository)[name]([id]))).toBeUndefined();
  });

  it.each(['deliveries', 'webhooks'] as const)('of %s is not waited for by outcomes', async (table) => {
    const { id, lane } = await pending();
    const record = () => app.get(DeliveriesRepository).record([failed(id)]);
    const locked = table === 'deliveries' ? id : lane.webhookId;
    expect(await whileLocked(table, locked, record)).toEqual(new Map([[id, 'busy']]));
    expect((await record()).get(id)).toMatchObject({ status: 'failed', nextInMs: 60_000 });
  });

  it('is not waited for by the end of its webhook', async () => {
    const { lane } = await pending();
    const { webhookId } = lane;
    const disable = () =>
      app
        .get(DataSource)
        .transaction((manager) => app.get(WebhookHealthService).disable(manager, { ...GONE, webhookId }, 'gone', null));
    expect(await whileLocked('webhooks', webhookId, disable)).toBe('busy');
    expect(await disable()).toMatchObject({ url: URL });
  });
});
