import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ClockService } from '../../../../src/infrastructure/database/clock.service';
import { SweeperService } from '../../../../src/deliveries/sweeping/sweeper.service';
import { RecoveriesService } from '../../../../src/deliveries/recovery/recoveries.service';
import { RecoveryProgressService } from '../../../../src/deliveries/recovery/recovery-progress.service';
import { lowestIdOf } from '../../../../src/infrastructure/database/id-time';
import { WebhooksService } from '../../../../src/webhooks/webhooks.service';
import { startApplication, stopApplication } from '../../stage/application';
import { cloneDatabase, type TestDatabase } from '../../../support/postgres';
import { type Hook, useReceiver } from '../../../support/receiver';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';

/** Of events to one user. */
const PAGE = 500;
const MOSTLY_SENT = 100;

describeOnStores('Thousands of deliveries of one webhook', (store) => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let apps: NestFastifyApplication[];

  beforeAll(async () => {
    database = await cloneDatabase();
    const SECRETS_KEY = Buffer.alloc(32, 1).toString('base64');
    // No attempt may time out, not even on a slow machine, because attempts are counted.
    const DELIVERY_TIMEOUT_MS = '60000';
    const start = () => startApplication(database.url, [], { ...store.settings(), SECRETS_KEY, DELIVERY_TIMEOUT_MS });
    apps = [await start(), await start()];
  });
  afterAll(async () => {
    for (const app of apps) await stopApplication(app);
    await database.drop();
  });

  interface Damaged {
    userId: string;
    hook: Hook;
    webhookId: string;
    since: Date;
  }

  /** Creates a webhook and `count` events that failed permanently. */
  async function damaged(count: number, hook = receiver.hook()): Promise<Damaged> {
    const userId = `user-${randomUUID()}`;
    const { webhook } = await apps[0]!.get(WebhooksService).create(userId, { url: hook.url, events: ['job.*'] });
    const since = apps[0]!.get(ClockService).now();
    const prefix = lowestIdOf(since.getTime()).slice(0, 13);
    await database.query(
      `with event as (
         insert into webhook_service.events (id, name, user_id, body, fanned_out_at, leased_until)
         select ($1 || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'job.started', $2, '{}', now(), now()
         from generate_series(1, $5::int) as n returning id
       )
       insert into webhook_service.deliveries
         (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until, error_code)
       select overlay(id::text placing '7001' from 15)::uuid, $3::uuid, $2, id, 'job.started', $4, 4, 'event', 'failed', now(), now(),
              'http_status'
       from event`,
      [prefix, userId, webhook.id, hook.url, count],
    );
    await database.query('analyze webhook_service.events, webhook_service.deliveries');
    return { userId, hook, webhookId: webhook.id, since };
  }

  const rows = (webhookId: string, status: string) =>
    database.query<{ event_id: string }>(
      `select event_id from webhook_service.deliveries
       where webhook_id = $1 and trigger = 'redelivery' and status = $2`,
      [webhookId, status],
    );

  it('cannot be recovered when their webhook is deleted at the same time', async () => {
    const { userId, webhookId, since } = await damaged(1);
    await database.query('begin');
    await database.query('delete from webhook_service.webhooks where id = $1', [webhookId]);
    const started = apps[0]!.get(RecoveriesService).start(userId, webhookId, { since });
    const refused = expect(started).rejects.toMatchObject({ status: 404 });
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%.recoveries%'
                     and datname = current_database()`;
    try {
      const isWaiting = async () => {
        await database.query('select pg_stat_clear_snapshot()');
        return (await database.query(waiting)).length;
      };
      await waitFor(isWaiting, { what: 'a recovery that waits for the webhook' });
    } finally {
      await database.query('commit');
    }
    await refused;
  });

  it('are recovered page by page by two processes, each event once', async () => {
    const { userId, hook, webhookId, since } = await damaged(10_000);
    const recoveries = apps[0]!.get(RecoveriesService);
    const counted = await waitFor(
      async () => {
        const { count, complete } = await recoveries.count(userId, webhookId, { since });
        expect(count).toBeLessThanOrEqual(10_000);
        // A busy machine may not look at all of them within half a second.
        return complete && count;
      },
      { what: 'a complete count' },
    );
    expect(counted).toBe(10_000);
    const { id } = await recoveries.start(userId, webhookId, { since });
    const most = { pending: 0 };
    await waitFor(
      async () => {
        await Promise.all(apps.map((app) => app.get(RecoveryProgressService).continueAll()));
        most.pending = Math.max(most.pending, (await rows(webhookId, 'pending')).length);
        return (await recoveries.read(userId, webhookId, id)).status === 'done';
      },
      { what: 'the end of the recovery', timeoutMs: 240_000 },
    );
    expect(await recoveries.read(userId, webhookId, id)).toMatchObject({ count: 10_000, queued: 10_000 });
    expect(most.pending).toBeLessThan(PAGE + MOSTLY_SENT);
    await hook.received(10_000);
    await waitFor(async () => (await rows(webhookId, 'pending')).length === 0, { what: 'the last outcome' });
    const eventIds = (await rows(webhookId, 'succeeded')).map((row) => row.event_id);
    expect([eventIds.length, new Set(eventIds).size, hook.calls.length]).toEqual([10_000, 10_000, 10_000]);
  });

  it('are recovered from the last position when another process takes over', async () => {
    const { userId, hook, webhookId, since } = await damaged(1200);
    const [first, second] = apps as [NestFastifyApplication, NestFastifyApplication];
    const { id } = await first.get(RecoveriesService).start(userId, webhookId, { since });
    await waitFor(async () => (await rows(webhookId, 'succeeded')).length >= PAGE - MOSTLY_SENT, { what: 'a page' });
    await waitFor(
      async () => {
        await second.get(RecoveryProgressService).continueAll();
        return (await second.get(RecoveriesService).read(userId, webhookId, id)).status === 'done';
      },
      { what: 'the end of the recovery' },
    );
    await hook.received(1200);
    expect(new Set(hook.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1200);
    expect(hook.calls).toHaveLength(1200);
  });

  it('are canceled when the webhook is deactivated while some of them are in flight', async () => {
    let goOn: (value?: unknown) => void = () => undefined;
    const after = new Promise((resolve) => (goOn = resolve));
    // No delivery after the first 300 ends before the webhook is deactivated.
    const answers = [...Array.from({ length: 300 }, () => ({})), { after }];
    const { userId, hook, webhookId } = await damaged(3000, receiver.hook(...answers));
    const [app] = apps as [NestFastifyApplication];
    await database.query(
      `update webhook_service.deliveries set status = 'pending', error_code = null where webhook_id = $1`,
      [webhookId],
    );
    await waitFor(() => app.get(SweeperService).sweep(), { what: 'a sweep' });
    await hook.received(301);
    await app.get(WebhooksService).update(userId, webhookId, { active: false });
    const counts = async () =>
      Object.fromEntries(
        (
          await database.query<{ outcome: string; n: number }>(
            `select status || coalesce(' ' || error_code, '') as outcome, count(*)::int as n
             from webhook_service.deliveries where webhook_id = $1 group by 1`,
            [webhookId],
          )
        ).map(({ outcome, n }) => [outcome, n]),
      );
    expect(await counts()).not.toHaveProperty('pending');
    goOn();
    const allIsTold = async () => {
      const found = await counts();
      const sent = hook.calls.length;
      expect(found).toEqual({ succeeded: sent, 'canceled webhook_disabled': 3000 - sent });
      return true;
    };
    await waitFor(allIsTold, { what: 'the outcomes of the sent deliveries' });
    expect(hook.calls.length).toBeLessThan(3000);
  });
});
