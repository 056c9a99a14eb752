import { v7 } from 'uuid';
import { type Api, type CreatedWebhook, dataOf, pageOf } from '../../support/api';
import { cloneDatabase } from '../../support/postgres';
import { type Hook, useReceiver } from '../../support/receiver';
import { startService, useService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { deleteWebhooks, deliveriesOf, fannedOut, publish, settledDeliveries, subscribe } from '../stage/steps';

const SECRETS_KEY = Buffer.alloc(32, 1).toString('base64');
const NO_RETRIES = { retryDelaysMs: [] };
const ABOUT_WEBHOOKS = ['webhook.*'];

interface Notice {
  event: string;
  createdAt: string;
  data: Record<string, unknown>;
}

const read = (api: Api, { id }: CreatedWebhook) => dataOf(api.readWebhook(id));

const noticesAt = (hook: Hook): Notice[] => hook.calls.map(({ body }) => JSON.parse(body.toString()) as Notice);

/** The first `count` notices at the hook. */
async function received(hook: Hook, count: number): Promise<Notice[]> {
  await hook.received(count);
  return noticesAt(hook).slice(0, count);
}

/** All notices about the webhook, oldest first. */
async function noticesAbout(api: Api, webhook: CreatedWebhook) {
  const pages = ['webhook.failing', 'webhook.healthy'].map((event) => pageOf(api.listEvents({ event, limit: 250 })));
  const events = (await Promise.all(pages)).flatMap(({ rows }) => rows);
  return events.filter(({ data }) => data.webhookId === webhook.id).sort((one, other) => (one.id < other.id ? -1 : 1));
}

async function hasFailures(api: Api, webhook: CreatedWebhook, count: number): Promise<void> {
  const what = `a count of ${count}`;
  await waitFor(async () => (await read(api, webhook)).consecutiveFailures === count, { what });
}

/** Publishes events that the webhook's receiver refuses, until `upTo` in a row have given up. */
async function fail(api: Api, webhook: CreatedWebhook, upTo: number): Promise<void> {
  for (let count = (await read(api, webhook)).consecutiveFailures + 1; count <= upTo; count++) {
    await publish(api, 'job.started');
    await hasFailures(api, webhook, count);
  }
}

describeOnStores('News of webhooks', (store) => {
  const settings = () => ({ SECRETS_KEY, ...store.settings() });
  const service = useService(settings);
  const receiver = useReceiver();
  let api: Api;
  let witness: Hook;
  let hook: Hook;
  let webhook: CreatedWebhook;
  beforeEach(async () => {
    api = service.api;
    [witness, hook] = [receiver.hook(), receiver.hook({ status: 500 })];
    await subscribe(api, witness, ABOUT_WEBHOOKS);
    webhook = await subscribe(api, { url: `${hook.url}?token=hidden` }, ['job.started'], NO_RETRIES);
  });
  afterEach(() => deleteWebhooks(api));

  /** As if its owner had been told of something so long ago; an hour in the future, no test takes so long that it is over. */
  const toldBefore = (time: string, { id }: CreatedWebhook = webhook) =>
    service.database.query(`update webhook_service.webhooks set told_at = now() - $2::interval where id = $1`, [
      id,
      time,
    ]);

  async function rowOf({ id }: CreatedWebhook) {
    const [row] = await service.database.query(
      `select failing_since is not null as since, missed_count as missed, told_failing as told
       from webhook_service.webhooks where id = $1`,
      [id],
    );
    return row;
  }

  /** Waits until another webhook of the user is told of: whatever was due before has had its turn. */
  async function newsOfAnother(): Promise<void> {
    const before = witness.calls.length;
    const other = await subscribe(api, receiver.hook({ status: 500 }), ['job.completed'], NO_RETRIES);
    for (let count = 1; count <= 5; count++) {
      await publish(api, 'job.completed');
      await hasFailures(api, other, count);
    }
    await waitFor(
      () =>
        noticesAt(witness)
          .slice(before)
          .some(({ data }) => data.webhookId === other.id),
      {
        what: 'news of another webhook',
      },
    );
  }

  it('come to another webhook when five events in a row gave up, and with the next success', async () => {
    await dataOf(api.updateWebhook(webhook.id, { events: ['job.started', ...ABOUT_WEBHOOKS] }));
    const everything = await subscribe(api, receiver.hook(), ['*']);
    const first = await publish(api, 'job.started');
    const [row] = await settledDeliveries(api, webhook, first);
    await hasFailures(api, webhook, 1);
    await fail(api, webhook, 4);
    expect(await rowOf(webhook)).toEqual({ since: false, missed: null, told: false });
    await fail(api, webhook, 5);
    const about = { webhookId: webhook.id, url: new URL(hook.url).origin };
    const lastError = { code: 'http_status', responseStatus: 500 };
    expect((await received(witness, 1))[0]).toMatchObject({
      event: 'webhook.failing',
      data: { ...about, consecutiveFailures: 5, lastError, disablesAt: null },
    });

    hook.answer({ status: 200 });
    await toldBefore('61 seconds');
    await publish(api, 'job.started');
    const [, healthy] = await received(witness, 2);
    expect(healthy).toMatchObject({ event: 'webhook.healthy' });
    expect(healthy!.data).toEqual({ ...about, failingSince: row!.completedAt, missedCount: 5 });
    expect(await rowOf(webhook)).toEqual({ since: false, missed: null, told: false });

    const notices = await noticesAbout(api, webhook);
    expect(notices.map(({ event }) => event)).toEqual(['webhook.failing', 'webhook.healthy']);
    for (const notice of notices) {
      await fannedOut(api, notice);
      expect(await deliveriesOf(api, webhook, notice)).toEqual([]);
      expect(await deliveriesOf(api, everything, notice)).toEqual([]);
    }
  });

  it('say nothing of failures that ended before their owner could be told', async () => {
    await toldBefore('-1 hour');
    await fail(api, webhook, 5);
    expect(await rowOf(webhook)).toEqual({ since: true, missed: null, told: false });
    hook.answer({ status: 200 });
    await publish(api, 'job.started');
    await hasFailures(api, webhook, 0);
    expect(await rowOf(webhook)).toEqual({ since: false, missed: null, told: false });
  });

  it('come at most once a minute, and at its end with the last state', async () => {
    await fail(api, webhook, 5);
    await received(witness, 1);
    await toldBefore('-1 hour');
    const [outage, recovered] = [{ status: 500 }, { status: 200 }];
    hook.answer(recovered);
    await publish(api, 'job.started');
    await hasFailures(api, webhook, 0);
    expect(await rowOf(webhook)).toEqual({ since: true, missed: 5, told: true });
    hook.answer(outage);
    await fail(api, webhook, 6);
    expect(await rowOf(webhook)).toEqual({ since: true, missed: null, told: true });
    await newsOfAnother();
    expect(await noticesAbout(api, webhook)).toHaveLength(1);

    // The minute ends in three seconds.
    await toldBefore('57 seconds');
    const [{ end }] = (await service.database.query<{ end: Date }>(
      `select told_at + interval '1 minute' as end from webhook_service.webhooks where id = $1`,
      [webhook.id],
    )) as [{ end: Date }];
    hook.answer(recovered);
    await publish(api, 'job.started');
    await hasFailures(api, webhook, 0);
    const isHealthy = async () => (await noticesAbout(api, webhook)).length > 1;
    await waitFor(isHealthy, { what: 'the end of the minute' });
    const [, healthy, ...more] = await noticesAbout(api, webhook);
    expect(more).toEqual([]);
    expect(healthy).toMatchObject({ event: 'webhook.healthy', data: { missedCount: 6 } });
    expect(Date.parse(healthy!.createdAt)).toBeGreaterThanOrEqual(end.getTime());
  });

  it('come at most 60 times an hour to a user, and later with the state of then', async () => {
    const bob = await service.apiFor('bob');
    const hisWitness = receiver.hook();
    const ids = Array.from({ length: 60 }, () => v7());
    await service.database.query(
      `insert into webhook_service.events (id, name, user_id, body, fanned_out_at)
       select id, 'webhook.failing', 'bob', '{"data":{}}', now() from unnest($1::uuid[]) as id`,
      [ids],
    );
    await subscribe(bob, hisWitness, ['webhook.failing']);
    const his = await subscribe(bob, receiver.hook({ status: 500 }), ['job.started'], NO_RETRIES);
    await fail(bob, his, 5);
    await newsOfAnother();
    expect(hisWitness.calls).toEqual([]);
    expect(await rowOf(his)).toEqual({ since: true, missed: null, told: false });
    await service.database.query('delete from webhook_service.events where id = $1', [ids[0]]);
    await fail(bob, his, 6);
    const [notice] = await received(hisWitness, 1);
    expect(notice!.data).toMatchObject({ webhookId: his.id, consecutiveFailures: 6 });
    await deleteWebhooks(bob);
  });

  it('make no news when they fail themselves', async () => {
    const deaf = await subscribe(api, receiver.hook({ status: 500 }), ['job.completed', 'webhook.failing'], NO_RETRIES);
    for (let i = 0; i < 4; i++) await subscribe(api, receiver.hook({ status: 500 }), ['job.started'], NO_RETRIES);
    await fail(api, webhook, 5);
    await received(witness, 5);
    await hasFailures(api, deaf, 5);
    expect(await rowOf(deaf)).toEqual({ since: false, missed: null, told: false });
    await publish(api, 'job.completed');
    const [, , , , , sixth] = await received(witness, 6);
    expect(sixth!.data).toMatchObject({ webhookId: deaf.id, consecutiveFailures: 6 });
  });

  it('are not recovered to the webhook that they are about, nor by a subscription to *', async () => {
    await dataOf(api.updateWebhook(webhook.id, { events: ['job.started', ...ABOUT_WEBHOOKS] }));
    const everything = await subscribe(api, receiver.hook(), ['*']);
    const since = webhook.createdAt;
    await fail(api, webhook, 5);
    await received(witness, 1);
    await newsOfAnother();
    await hasFailures(api, webhook, 6);
    for (const notice of await noticesAbout(api, webhook)) await fannedOut(api, notice);
    // As if both had been inactive all the time: every event without a delivery counts as missed.
    await service.database.query(
      `insert into webhook_service.webhook_pauses (webhook_id, started_at, ended_at)
       select id, now() - interval '1 hour', now() from unnest($1::uuid[]) as id`,
      [[webhook.id, everything.id]],
    );
    const count = async ({ id }: CreatedWebhook, event: string) =>
      (await dataOf(api.recover(id, { since, event, dryRun: true }))).count;
    expect(await count(webhook, 'job.started')).toBe(5);
    // Only the one about the other webhook.
    expect(await count(webhook, 'webhook.failing')).toBe(1);
    expect(await count(everything, 'webhook.failing')).toBe(0);
  });

  it('are forgotten when the webhook is activated, and wait for nothing while it is inactive', async () => {
    await toldBefore('-1 hour');
    await fail(api, webhook, 5);
    await dataOf(api.updateWebhook(webhook.id, { active: false }));
    await toldBefore('61 seconds');
    await newsOfAnother();
    expect(await rowOf(webhook)).toEqual({ since: true, missed: null, told: false });
    await dataOf(api.updateWebhook(webhook.id, { active: true }));
    expect(await rowOf(webhook)).toEqual({ since: false, missed: null, told: false });
    await newsOfAnother();
    expect(await noticesAbout(api, webhook)).toEqual([]);
    await fail(api, webhook, 5);
    await waitFor(async () => (await noticesAbout(api, webhook)).length === 1, { what: 'news after the activation' });
  });

  it('come once, however many webhooks fail at the same moment in two processes', async () => {
    const second = await startService(settings(), service.database);
    try {
      const hooks = await Promise.all(
        Array.from({ length: 10 }, () =>
          subscribe(api, receiver.hook({ status: 500 }), ['follower.gained'], NO_RETRIES),
        ),
      );
      for (let i = 0; i < 10; i++) await publish(i % 2 ? api : second.api, 'follower.gained');
      for (const each of hooks) await hasFailures(api, each, 10);
      await received(witness, hooks.length);
      const due = () =>
        service.database.query(
          `select from webhook_service.webhooks
           where failing_since is not null and told_failing = (missed_count is not null)`,
        );
      await waitFor(async () => (await due()).length === 0, { what: 'the last notice' });
      for (const each of hooks) expect(await noticesAbout(api, each)).toHaveLength(1);
    } finally {
      expect(await second.stop()).toBe(0);
    }
  });

  it('come from the next process when the one that counted the failures is killed', async () => {
    const database = await cloneDatabase();
    const killed = await startService(settings(), database);
    try {
      const [news, broken] = [receiver.hook(), receiver.hook({ status: 500 })];
      await subscribe(killed.api, news, ABOUT_WEBHOOKS);
      const failing = await subscribe(killed.api, broken, ['job.started'], NO_RETRIES);
      await database.query("update webhook_service.webhooks set told_at = now() + interval '1 hour' where id = $1", [
        failing.id,
      ]);
      await fail(killed.api, failing, 5);
      await killed.kill();
      expect(news.calls).toEqual([]);
      await database.query('update webhook_service.webhooks set told_at = null');
      const next = await startService(settings(), database);
      expect((await received(news, 1))[0]).toMatchObject({ event: 'webhook.failing', data: { webhookId: failing.id } });
      expect(await next.stop()).toBe(0);
    } finally {
      await database.drop();
    }
  });

  it('come with the count that disables a webhook, when that is less than five', async () => {
    const own = await startService({ ...settings(), DISABLE_AFTER_FAILURES: '3', DISABLE_AFTER_HOURS: '1' });
    try {
      const news = receiver.hook();
      await subscribe(own.api, news, ABOUT_WEBHOOKS);
      const failing = await subscribe(own.api, receiver.hook({ status: 500 }), ['job.started'], NO_RETRIES);
      await fail(own.api, failing, 3);
      const [notice] = await received(news, 1);
      const { disablesAt } = await read(own.api, failing);
      expect(disablesAt).not.toBeNull();
      expect(notice!.data).toMatchObject({ consecutiveFailures: 3, disablesAt });
    } finally {
      expect(await own.stop()).toBe(0);
    }
  });
});
