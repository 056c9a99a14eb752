import {
  allPagesOf,
  type Api,
  type CreatedWebhook,
  dataOf,
  type Delivery,
  errorOf,
  pageOf,
  type Webhook,
} from '../../../support/api';
import { insertBacklog } from '../../../support/backlog';
import { describeLong } from '../../../support/online';
import { openTransaction, type OpenTransaction } from '../../../support/open-transaction';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { type Service, startService, useService } from '../../../support/service';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { publish, settledDeliveries, subscribe } from '../../stage/steps';

/** More than are canceled in the transaction of a request. */
const ROWS = 5200;
const SLOW = { maxPerSecond: 0.1, retryDelaysMs: [] };
/** The log of a webhook, read in every way. */
const FILTERS: Record<string, string>[] = [
  ...['pending', 'canceled', 'failed', 'succeeded'].map((status) => ({ status })),
  ...['waiting', 'retrying', 'canceled', 'gave_up', 'delivered'].map((state) => ({ state })),
  ...[{ error: 'webhook_disabled' }, { error: 'http_status' }, { givenUp: 'true' }, { trigger: 'event' }],
  ...[
    { event: 'job.started', status: 'canceled' },
    { event: 'job.started', state: 'waiting' },
  ],
];

const pendingRows = async (database: TestDatabase, webhookId: string): Promise<number> => {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from webhook_service.deliveries where webhook_id = $1 and status = 'pending'`,
    [webhookId],
  );
  return row!.count;
};

/** Keeps the pending rows of a webhook from being canceled, claimed or changed. */
const lockRows = (database: TestDatabase, webhookId: string): Promise<OpenTransaction> =>
  openTransaction(database, [
    `select from webhook_service.deliveries where webhook_id = $1 and status = 'pending' for update`,
    [webhookId],
  ]);

const isStopped = (database: TestDatabase, webhookId: string) =>
  waitFor(
    async () => {
      const stopping = await database.query('select from webhook_service.stopping_webhooks where webhook_id = $1', [
        webhookId,
      ]);
      return stopping.length === 0 && (await pendingRows(database, webhookId)) === 0;
    },
    { what: 'the end of canceling' },
  );

describeOnStores('A webhook with more pending deliveries than a request can cancel', (store) => {
  const service = useService(() => ({ RATE_LIMIT_PER_MINUTE: '0', ...store.settings() }));
  const receiver = useReceiver();
  let count = 0;

  async function owner(): Promise<{ api: Api; userId: string }> {
    const userId = `owner-${count++}`;
    const scopes = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish', 'messages:pull'];
    return { api: await service.apiFor(userId, scopes), userId };
  }

  async function behind(hook: Hook, more: Record<string, unknown> = SLOW, rows = ROWS) {
    const { api, userId } = await owner();
    const webhook = await subscribe(api, hook, ['job.started'], more);
    await insertBacklog(service.database, { webhookId: webhook.id, userId, rows, url: hook.url });
    return { api, userId, webhook };
  }

  async function pulled(more: Record<string, unknown> = {}, rows = ROWS) {
    const { api, userId } = await owner();
    const webhook = await dataOf(api.createWebhook({ kind: 'pull', events: ['job.started'], ...more }), 201);
    await insertBacklog(service.database, { webhookId: webhook.id, userId, rows, url: null });
    return { api, userId, webhook };
  }

  const activate = (api: Api, { id }: Webhook) => api.updateWebhook(id, { active: true });
  const disable = (api: Api, { id }: Webhook) => dataOf(api.updateWebhook(id, { active: false }));

  it('is switched off at once, the log is that of a webhook without pending deliveries, and later the same', async () => {
    const hook = receiver.hook({ status: 500 });
    const { api, webhook } = await behind(hook, { retryDelaysMs: [] }, 0);
    const failed = await publish(api, 'job.started');
    await settledDeliveries(api, webhook, failed);
    await dataOf(api.updateWebhook(webhook.id, { maxPerSecond: 0.1, retryDelaysMs: [3_600_000] }));
    const { userId } = await dataOf(api.me());
    await insertBacklog(service.database, { webhookId: webhook.id, userId, rows: ROWS, url: hook.url });
    const [old] = (await pageOf(api.listDeliveries(webhook.id, { eventId: failed.id }))).rows;
    const lock = await lockRows(service.database, webhook.id);
    // No attempt may begin for ten seconds.
    await service.database.query(
      `update webhook_service.webhooks set rate_used_until = now() + interval '10 seconds' where id = $1`,
      [webhook.id],
    );
    await dataOf(api.redeliver(webhook.id, old!.id), 202);
    await disable(api, webhook);

    const read = async () => {
      const rows = async (list: (query: Record<string, string>) => ReturnType<Api['listAllDeliveries']>) => {
        const logs: Record<string, unknown> = {};
        for (const filters of FILTERS)
          logs[JSON.stringify(filters)] = (
            await allPagesOf<Delivery>((query) => list({ ...filters, ...query } as Record<string, string>), {
              limit: 250,
            })
          ).flat();
        return logs;
      };
      const counts: unknown[] = [];
      for (const filters of FILTERS) counts.push(await dataOf(api.countDeliveries(filters)));
      const { pending, nextDueAt, health } = (await dataOf(api.readWebhook(webhook.id, { include: 'stats' })))
        .stats as unknown as Record<string, unknown>;
      return {
        own: await rows((query) => api.listDeliveries(webhook.id, query)),
        all: await rows(api.listAllDeliveries),
        event: await dataOf(api.readEvent(failed.id)),
        counts,
        stats: { pending, nextDueAt, health },
      };
    };
    const before = await read();
    expect(await pendingRows(service.database, webhook.id)).toBeGreaterThan(0);
    expect(before.own['{"status":"pending"}']).toEqual([]);
    expect(before.own['{"status":"canceled"}']).toHaveLength(ROWS + 1);
    expect(before.stats).toMatchObject({ pending: 0, nextDueAt: null, health: 'disabled' });
    const [one] = before.own['{"state":"canceled"}'] as Delivery[];
    expect(await dataOf(api.readDelivery(webhook.id, one!.id))).toMatchObject({
      ...{ status: 'canceled', waitsFor: null, error: { code: 'webhook_disabled' } },
      completedAt: expect.any(String),
    });
    await lock.end('rollback');
    await isStopped(service.database, webhook.id);
    expect(await read()).toEqual(before);
    expect((await dataOf(api.stats({ webhookId: webhook.id }))).totals).toMatchObject({
      ...{ canceled: ROWS + 1, failed: 1 },
      byError: { webhook_disabled: ROWS + 1 },
    });
    expect(hook.calls).toHaveLength(1);
  });

  it('cannot be activated before its deliveries are canceled, and then sends only new ones', async () => {
    const hook = receiver.hook();
    const { api, webhook } = await behind(hook, { ...SLOW, externalId: 'one' });
    const lock = await lockRows(service.database, webhook.id);
    await disable(api, webhook);
    const sent = hook.calls.length;
    const declared = { url: hook.url, events: ['job.started'], ...SLOW };
    await errorOf(activate(api, webhook), 'webhook_stopping');
    await errorOf(api.saveWebhook('one', { ...declared, active: true }), 'webhook_stopping');
    expect(await dataOf(api.readWebhook(webhook.id))).toMatchObject({ active: false });
    await dataOf(api.updateWebhook(webhook.id, { maxPerSecond: null, active: false }));
    await lock.end('rollback');
    await isStopped(service.database, webhook.id);
    await dataOf(activate(api, webhook));
    const event = await publish(api, 'job.started');
    await settledDeliveries(api, webhook, event);
    expect(hook.calls.slice(sent).map(({ headers }) => headers['webhook-id'])).toEqual([event.id]);
    // Off once more.
    await disable(api, webhook);
    await dataOf(activate(api, webhook));
  });

  it('is switched off by its declaration, and deleted while it is stopping', async () => {
    const hook = receiver.hook();
    const { api, webhook } = await behind(hook, { ...SLOW, externalId: 'two' });
    const lock = await lockRows(service.database, webhook.id);
    const declared = { url: hook.url, events: ['job.started'], ...SLOW };
    await dataOf(api.saveWebhook('two', { ...declared, active: false }));
    await errorOf(api.saveWebhook('two', { ...declared, active: true }), 'webhook_stopping');
    await dataOf(api.deleteExternalWebhook('two'));
    const codes = async () => {
      const { rows } = await pageOf(api.listAllDeliveries({ limit: 250, status: 'canceled' }));
      return new Set(rows.map(({ error }) => error?.code));
    };
    expect(await codes()).toEqual(new Set(['webhook_deleted']));
    await lock.end('rollback');
    await isStopped(service.database, webhook.id);
    expect(await codes()).toEqual(new Set(['webhook_deleted']));
  });

  it('is disabled by a 410', async () => {
    const hook = receiver.hook({ status: 410 });
    const { api, webhook } = await behind(hook, { retryDelaysMs: [] }, 0);
    const lock = await openTransaction(service.database, [
      'select from webhook_service.webhooks where id = $1 for update',
      [webhook.id],
    ]);
    await publish(api, 'job.started');
    await hook.received(1);
    const { userId } = await dataOf(api.me());
    const backlog = { webhookId: webhook.id, userId, rows: ROWS, url: hook.url };
    await insertBacklog(service.database, { ...backlog, isDeferred: false });
    await lock.end('rollback');
    const disabled = await waitFor(
      async () => {
        const now = await dataOf(api.readWebhook(webhook.id));
        return !now.active && now;
      },
      { what: 'the end of the webhook' },
    );
    expect(disabled).toMatchObject({ disabledReason: 'gone' });
    await isStopped(service.database, webhook.id);
    expect(hook.calls).toHaveLength(1);
  });

  it('gives no consumer anything once it is switched off, nor takes an acknowledgement', async () => {
    const { api, webhook } = await pulled();
    const [leased] = await dataOf(api.lease(webhook.id, { limit: 1 }));
    const waiting = api.lease(webhook.id, { limit: 1 });
    await dataOf(waiting);
    const lock = await lockRows(service.database, webhook.id);
    await disable(api, webhook);
    expect(await dataOf(api.lease(webhook.id, { limit: 10, waitSeconds: 1 }))).toEqual([]);
    expect(await dataOf(api.acknowledge(webhook.id, { succeeded: [leased!.leaseId] }))).toEqual({
      ...{ succeeded: [], failed: [] },
      expired: [leased!.leaseId],
    });
    await lock.end('rollback');
    await isStopped(service.database, webhook.id);
  });

  it('is erased with its user, and nothing is sent meanwhile', async () => {
    const hook = receiver.hook();
    const { api, userId, webhook } = await behind(hook);
    const erasure = await dataOf(service.api.eraseUser(userId), 202);
    await waitFor(
      async () => {
        const [found] = await service.database.query('select from webhook_service.webhooks where id = $1', [
          webhook.id,
        ]);
        return !found;
      },
      { what: 'the end of the webhook' },
    );
    const sent = hook.calls.length;
    const claimed = `
      select from webhook_service.deliveries
      where webhook_id = $1 and claimed and status = 'canceled' and attempted_at is null`;
    const counts: number[] = [];
    await waitFor(
      async () => {
        counts.push((await service.database.query(claimed, [webhook.id])).length);
        return (await dataOf(service.api.readErasure(erasure.id))).status === 'done';
      },
      { what: 'the end of the erasure' },
    );
    expect(hook.calls).toHaveLength(sent);
    // One may have been in flight.
    expect(Math.max(...counts)).toBeLessThanOrEqual(1);
    await errorOf(api.me(), 401);
    const left = await service.database.query('select from webhook_service.stopping_webhooks where user_id = $1', [
      userId,
    ]);
    expect(left).toEqual([]);
  });

  it('is deleted when it is idle, and one of another user behind it too', async () => {
    const [first, second] = [await pulled({ idleSeconds: 60 }), await pulled({ idleSeconds: 60 }, 1)];
    const lock = await lockRows(service.database, first.webhook.id);
    await service.database.query(
      `update webhook_service.webhooks set created_at = now() - interval '1 hour', last_leased_at = null
       where id = any($1)`,
      [[first.webhook.id, second.webhook.id]],
    );
    for (const { api, webhook } of [first, second])
      await waitFor(async () => (await api.readWebhook(webhook.id)).status === 404, { what: 'the idle deletion' });
    await lock.end('rollback');
    await isStopped(service.database, first.webhook.id);
  });
});

describe('Canceling the deliveries of a webhook', () => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let service: Service;
  beforeAll(async () => {
    database = await cloneDatabase();
    service = await startService({}, database);
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  it('goes on after its process was killed in the middle', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started'], SLOW);
    const backlog = { webhookId: webhook.id, userId: 'admin', rows: ROWS, url: hook.url };
    await insertBacklog(database, backlog);
    const lastRows = `
      select from webhook_service.deliveries where id = any(array(
        select id from webhook_service.deliveries where webhook_id = $1 order by id desc limit 100)) for update`;
    const lock = await openTransaction(database, [lastRows, [webhook.id]]);
    await dataOf(service.api.updateWebhook(webhook.id, { active: false }));
    await waitFor(async () => (await pendingRows(database, webhook.id)) === 100, { what: 'the free rows' });
    await service.kill();
    await lock.end('rollback');
    service = await startService({}, database);
    await isStopped(database, webhook.id);
    const { totals } = await dataOf(service.api.stats({ webhookId: webhook.id }));
    expect(totals).toMatchObject({ canceled: ROWS });
  });
});

const MANY = 1_000_000;
const MAX_MS = 1000;

describeLong(`A webhook with ${MANY} pending deliveries`, () => {
  const service = useService({ RATE_LIMIT_PER_MINUTE: '0' });
  const receiver = useReceiver();

  it('is switched off, activated only when they are canceled, filled again and deleted, each within a second', async () => {
    const { api, database } = service;
    const hook = receiver.hook();
    const webhook: CreatedWebhook = await subscribe(api, hook, ['job.started'], SLOW);
    const insert = () =>
      insertBacklog(database, { webhookId: webhook.id, userId: 'admin', rows: MANY, url: hook.url, hasEvents: false });
    const timed = async (act: () => Promise<unknown>): Promise<number> => {
      const at = performance.now();
      await act();
      return performance.now() - at;
    };
    await insert();
    const times = [
      await timed(() => dataOf(api.updateWebhook(webhook.id, { active: false }))),
      await timed(() => errorOf(api.updateWebhook(webhook.id, { active: true }), 'webhook_stopping')),
      await timed(() => dataOf(api.listDeliveries(webhook.id, { status: 'canceled', limit: 250 }))),
      await timed(() => dataOf(api.listDeliveries(webhook.id, { status: 'pending' }))),
      await timed(() => dataOf(api.countDeliveries({ state: 'canceled' }))),
    ];
    const canceling = await timed(() =>
      waitFor(async () => (await api.updateWebhook(webhook.id, { active: true })).status === 200, {
        what: 'the end of canceling',
        timeoutMs: 900_000,
        everyMs: 500,
      }),
    );
    await insert();
    times.push(await timed(() => dataOf(api.deleteWebhook(webhook.id))));
    process.stdout.write(
      `\nAnswers in ms: ${times.map(Math.round).join(', ')}; canceled in ${Math.round(canceling)} ms\n`,
    );
    expect(Math.max(...times)).toBeLessThan(MAX_MS);
  }, 1_800_000);
});
