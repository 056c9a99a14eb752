import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Pool } from 'pg';
import { defineEvent } from 'webhook-notification';
import { database as inDatabase, EventsService, WebhookNotificationModule } from 'webhook-notification/nest';
import { allPagesOf, type Api, dataOf, pageOf } from '../../support/api';
import { miscountsOf } from '../../support/miscounts';
import { useReceiver } from '../../support/receiver';
import { runCommand, type Service, startService } from '../../support/service';
import { cryptoSignature, verifyStandardWebhook } from '../../support/signatures';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { FINISHED, type OldDatabase, restoreOldDatabase, type WebhookName } from '../stage/old-database';

const OrderPaid = defineEvent({
  name: 'order.paid',
  description: 'An order was paid.',
  schema: { type: 'object', required: ['orderId'], properties: { orderId: { type: 'integer' } } },
  example: { orderId: 1 },
});

describeOnStores('A database of 0.2', (store) => {
  const receiver = useReceiver();
  let old: OldDatabase;
  let service: Service;
  let [alice, bob] = [{} as Api, {} as Api];
  let rewritten: { before: unknown; after: unknown };
  let logged: { webhook: WebhookName; status: 'succeeded' | 'failed' | 'canceled'; count: number }[];

  beforeAll(async () => {
    old = await restoreOldDatabase('0.2', receiver);
    const { database, facts } = old;
    await database.query(
      `update webhook_service.webhooks set previous_secret_expires_at = now() + interval '1 hour' where id = $1`,
      [facts.webhooks.rotated.id],
    );
    logged = await database.query(`
      select w.description as webhook, d.status, count(*)::int from webhook_service.deliveries d
      join webhook_service.webhooks w on w.id = d.webhook_id
      where trigger <> 'test' and d.status <> 'pending' group by 1, 2 order by 1, 2`);
    const before = await database.query(FINISHED);
    const settings = { DATABASE_URL: database.url, SECRETS_KEY: facts.secretsKey };
    expect(await runCommand(['migrate'], settings)).toMatchObject({ exitCode: 0 });
    rewritten = { before, after: await database.query(FINISHED) };
    // The database is as old as its dump, and is to be kept however old that is.
    const more = { ...store.settings(), SECRETS_KEY: facts.secretsKey, RETENTION_DAYS: '3650' };
    service = await startService(more, database);
    [alice, bob] = [service.api.withToken(facts.tokens.alice), service.api.withToken(facts.tokens.bob)];
    const isDone = async () => {
      const [row] = await database.query<{ left: number }>(
        `select (select count(*) from webhook_service.deliveries where status = 'pending')::int
              + (select count(*) from webhook_service.events where fanned_out_at is null)::int
              + (select count(*) from webhook_service.recoveries where status = 'running')::int as left`,
      );
      return row?.left === 0;
    };
    await waitFor(isDone, { what: 'the end of all that was to be delivered' });
  });
  afterAll(async () => {
    expect(await service?.stop()).toBe(0);
    await old?.database.drop();
  });

  const NAMES: WebhookName[] = ['well', 'fails', 'inactive', 'rotated', 'slow', 'recovering', 'late'];

  it('is migrated without rewriting what is finished', () => {
    expect(rewritten.before).toHaveLength(2);
    expect(rewritten.after).toEqual(rewritten.before);
  });

  it.each(NAMES)('delivers what %s has still to get, each event once and signed', async (name) => {
    const { calls, due, facts } = old;
    const { secret } = facts.webhooks[name];
    const ids = calls[name].map(({ headers }) => headers['webhook-id'] as string);
    const isDue = new Set(due[name]);
    expect(ids.filter((id) => isDue.has(id)).sort()).toEqual(due[name]);
    for (const call of calls[name]) {
      expect(call.headers['x-service-signature']).toBe(cryptoSignature(call.body, secret));
      const signed = call.headers['webhook-signature'] as string;
      const current = { ...call, headers: { ...call.headers, 'webhook-signature': signed.split(' ')[0] } };
      expect(verifyStandardWebhook(current, secret)).toMatchObject({ id: call.headers['webhook-id'] });
    }
  });

  it('has something of every kind to deliver', () => {
    const counts = Object.fromEntries(Object.entries(old.due).map(([name, { length }]) => [name, length]));
    expect(counts).toEqual({ well: 3, fails: 8, inactive: 0, rotated: 0, slow: 9, recovering: 520, late: 2 });
  });

  it('has completed its recovery', async () => {
    const { webhooks, recovery } = old.facts;
    const path = `/api/webhooks/${webhooks.recovering.id}/recoveries/${recovery}`;
    const read = await dataOf(bob.call<{ status: string; count: number; queued: number }>('GET', path));
    expect(read).toMatchObject({ status: 'done', count: 520, queued: 520 });
  });

  it('knows every idempotency key of the API, and refuses other data', async () => {
    for (const { token, event, data, key, id } of old.facts.keys.filter(({ token }) => token !== null)) {
      const api = service.api.withToken(token);
      const repeat = { event, data, idempotencyKey: key };
      // The one of admin was made with another BOOTSTRAP_TOKEN, which no row holds.
      const by = key === 'all' ? service.api : api;
      const body = key === 'all' ? { ...repeat, userId: null } : repeat;
      expect(await dataOf(by.publish(body), 202)).toMatchObject({ id, duplicate: true });
      expect(await by.publish({ ...body, data: { ...data, more: 1 } })).toMatchObject({ status: 409 });
    }
  });

  it('knows every idempotency key of an application', async () => {
    const pool = new Pool({ connectionString: old.database.url, max: 1 });
    const transport = inDatabase({ connection: pool });
    @Module({ imports: [WebhookNotificationModule.forRoot({ application: 'shop', events: [OrderPaid], transport })] })
    class ShopModule {}
    let shop: INestApplicationContext | undefined;
    try {
      shop = await NestFactory.createApplicationContext(ShopModule, { logger: ['error'] });
      for (const { data, key, id } of old.facts.keys.filter(({ token }) => token === null)) {
        const options = { userId: 'alice', idempotencyKey: key };
        const published = await shop.get(EventsService).publish(OrderPaid, data as { orderId: number }, options);
        expect(published).toMatchObject({ id, duplicate: true });
      }
    } finally {
      await shop?.close();
      await pool.end();
    }
  });

  it('shows its log, its numbers and its other lists', async () => {
    const { facts, database } = old;
    const reader = service.api.withToken(facts.tokens.reader);
    for (const name of NAMES) {
      const api = ['slow', 'recovering', 'late'].includes(name) ? bob : reader;
      const { id } = facts.webhooks[name];
      const rows = (
        await allPagesOf((query) => api.listDeliveries(id, query), { limit: 250, trigger: 'event' })
      ).flat();
      const [{ count }] = (await database.query(
        `select count(*)::int from webhook_service.deliveries where webhook_id = $1 and trigger = 'event'`,
        [id],
      )) as [{ count: number }];
      expect([name, rows.length]).toEqual([name, count]);
    }
    const [{ since }] = (await database.query('select min(created_at) as since from webhook_service.webhooks')) as [
      { since: Date },
    ];
    const span = { since: since.toISOString(), until: new Date(since.getTime() + 600_000).toISOString() };
    for (const { webhook, status, count } of logged) {
      const stats = await dataOf(reader.stats({ ...span, webhookId: facts.webhooks[webhook].id }));
      // What was delivered after the upgrade may fall into the same hour.
      expect(stats.totals[status]).toBeGreaterThanOrEqual(count);
    }
    expect((await dataOf(alice.readWebhook(facts.webhooks.inactive.id))).active).toBe(false);
    expect((await pageOf(alice.listTokens())).rows.map(({ name }) => name)).toEqual(['of a colleague', 'alice']);
    expect((await dataOf(alice.readAccount(facts.account))).followersCount).toBe(3);
    const types = await dataOf(alice.eventTypes());
    expect(types.filter(({ name }) => ['order.paid', 'parcel.sent'].includes(name))).toHaveLength(2);
  });

  it('counts every attempt once', async () => {
    await waitFor(async () => (await miscountsOf(old.database)).length === 0, { what: 'counts that equal the log' });
  });

  it('gives nothing of its past to who follows changes', async () => {
    const { nextCursor } = await pageOf(alice.listAllDeliveries({ changedAfter: 'now' }));
    const { rows } = await pageOf(alice.listAllDeliveries({ changedAfter: nextCursor as string, waitSeconds: 2 }));
    expect(rows).toEqual([]);
  });

  it('signs with both secrets while the overlap of a rotation lasts', async () => {
    const { facts, calls } = old;
    const data = { ...facts.keys[0]?.data, jobId: 'after the upgrade' };
    const { id } = await dataOf(alice.publish({ event: 'job.started', data }), 202);
    const call = await waitFor(() => calls.rotated.find(({ headers }) => headers['webhook-id'] === id), {
      what: 'the delivery of a new event',
    });
    const { secret, previousSecret = '' } = facts.webhooks.rotated;
    expect(call.headers['x-service-signature']).toBe(cryptoSignature(call.body, secret));
    expect(call.headers['x-service-signature-previous']).toBe(cryptoSignature(call.body, previousSecret));
  });
});
