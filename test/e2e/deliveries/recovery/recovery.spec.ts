import {
  type Api,
  type CreatedWebhook,
  dataOf,
  errorOf,
  pageOf,
  type PublishedEvent,
  type Recovery,
} from '../../../support/api';
import { type Hook, useReceiver } from '../../../support/receiver';
import { useService } from '../../../support/service';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { ISO_UTC, UNKNOWN_ID, UUID_V7 } from '../../stage/examples';
import { deleteWebhooks, deliveriesOf, fannedOut, publish, settledDeliveries, subscribe } from '../../stage/steps';

const idsAt = (hook: Hook): string[] => hook.calls.map(({ headers }) => String(headers['webhook-id']));

describeOnStores('Recovering', (store) => {
  const service = useService(() => ({ MAX_RETRIES: '0', ...store.settings() }));
  const receiver = useReceiver();
  let api: Api;
  beforeAll(async () => {
    api = service.api;
  });
  afterEach(() => deleteWebhooks(api));

  /** An hour ago in Tokyo. */
  const since = () => new Date(Date.now() + 8 * 3_600_000).toISOString().replace('Z', '+09:00');
  const count = async (webhook: CreatedWebhook, more = {}) =>
    ((await dataOf(api.recover(webhook.id, { since: since(), dryRun: true, ...more }))) as { count: number }).count;

  async function failedEvent(webhook: CreatedWebhook, hook: Hook): Promise<PublishedEvent> {
    hook.answer({ status: 500 });
    const event = await publish(api, 'job.started');
    await settledDeliveries(api, webhook, event);
    hook.answer({ status: 200 });
    return event;
  }

  const finished = (webhook: CreatedWebhook, { id }: Recovery) =>
    waitFor(
      async () => {
        const recovery = await dataOf(api.readRecovery(webhook.id, id));
        return recovery.status === 'done' && recovery;
      },
      { what: 'the end of the recovery' },
    );

  it('sends again what failed for good, and answers how far it is', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started']);
    const events = [await failedEvent(webhook, hook), await failedEvent(webhook, hook)];
    expect(await dataOf(api.recover(webhook.id, { since: since(), dryRun: true }))).toEqual({ count: 2 });
    expect(hook.calls).toHaveLength(2);
    const begun = await dataOf(api.recover(webhook.id, { since: since() }), 202);
    expect(begun).toEqual({
      id: expect.stringMatching(UUID_V7),
      status: 'running',
      count: 2,
      queued: 0,
      createdAt: expect.stringMatching(ISO_UTC),
      completedAt: null,
    });
    expect(await finished(webhook, begun)).toEqual({
      ...begun,
      ...{ status: 'done', queued: 2, completedAt: expect.stringMatching(ISO_UTC) },
    });
    await hook.received(4);
    expect(idsAt(hook).slice(2).sort()).toEqual(events.map(({ id }) => id).sort());
    for (const event of events) {
      expect(await settledDeliveries(api, webhook, event)).toMatchObject([
        { trigger: 'event', status: 'failed' },
        { trigger: 'redelivery', attempt: 1, status: 'succeeded' },
      ]);
    }
    expect(await count(webhook)).toBe(0);
  });

  it('takes what was canceled by disabling and what was published meanwhile, if it subscribed to it', async () => {
    let release: () => void = () => undefined;
    const hook = receiver.hook({ after: new Promise<void>((resolve) => (release = resolve)) });
    const webhook = await subscribe(api, hook, ['job.*']);
    const underWay = await publish(api, 'job.started');
    await hook.received(1);
    // Its row is there after a second.
    await fannedOut(api, underWay);
    await service.database.query(
      `insert into webhook_service.deliveries
         (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
       select overlay(id::text placing 'ffffffffffff' from 25)::uuid, webhook_id, user_id, event_id, event, url, 2, 'event',
              'pending', now() + interval '1 hour', now() + interval '1 hour'
       from webhook_service.deliveries where webhook_id = $1`,
      [webhook.id],
    );
    await dataOf(api.updateWebhook(webhook.id, { active: false }));
    release();
    const meanwhile = [await publish(api, 'job.completed'), await publish(api, 'job.started', { userId: null })];
    const others = [await publish(api, 'follower.lost'), await publish(api, 'job.started', { userId: 'bob' })];
    for (const event of [...meanwhile, ...others]) await fannedOut(api, event);
    await dataOf(api.testWebhook(webhook.id));
    await dataOf(api.updateWebhook(webhook.id, { active: true }));
    expect(await deliveriesOf(api, webhook, underWay)).toMatchObject([{}, { status: 'canceled' }]);

    expect(await count(webhook)).toBe(3);
    await finished(webhook, await dataOf(api.recover(webhook.id, { since: since() }), 202));
    await hook.received(5);
    const recovered = hook.calls.filter(({ headers }) => headers['x-service-trigger'] === 'redelivery');
    expect(recovered.map(({ headers }) => headers['webhook-id']).sort()).toEqual(
      [underWay, ...meanwhile].map(({ id }) => id).sort(),
    );
  });

  it('leaves out what the webhook did not subscribe to, and what is older than the webhook', async () => {
    await publish(api, 'job.completed');
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started']);
    const unsubscribed = await publish(api, 'job.completed');
    await fannedOut(api, unsubscribed);
    await dataOf(api.updateWebhook(webhook.id, { events: ['*'] }));
    expect(await count(webhook)).toBe(0);
    await failedEvent(webhook, hook);
    expect(await count(webhook)).toBe(1);
    await dataOf(api.updateWebhook(webhook.id, { events: ['job.completed'] }));
    expect(await count(webhook)).toBe(0);
  });

  it('leaves out what a later delivery brought home, and what is under way', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started']);
    const home = await failedEvent(webhook, hook);
    const [row] = await deliveriesOf(api, webhook, home);
    await dataOf(api.redeliver(webhook.id, row!.id), 202);
    await settledDeliveries(api, webhook, home);
    expect(await count(webhook)).toBe(0);

    const pending = await failedEvent(webhook, hook);
    let release: () => void = () => undefined;
    hook.answer({ status: 500, after: new Promise<void>((resolve) => (release = resolve)) });
    const [failed] = await deliveriesOf(api, webhook, pending);
    await dataOf(api.redeliver(webhook.id, failed!.id), 202);
    expect(await count(webhook)).toBe(0);
    release();
    await settledDeliveries(api, webhook, pending);
    expect(await count(webhook)).toBe(1);
  });

  it('keeps to its window', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started']);
    const events = [];
    for (let i = 0; i < 3; i++) {
      events.push(await failedEvent(webhook, hook));
      const settledAt = Date.now();
      await waitFor(() => Date.now() > settledAt + 20, { what: 'a later moment', everyMs: 1 });
    }
    const [first, second, third] = events.map(({ createdAt }) => createdAt);
    expect(await count(webhook, { since: second })).toBe(2);
    expect(await count(webhook, { until: second })).toBe(1);
    expect(await count(webhook, { since: first, until: third })).toBe(2);
    expect(await count(webhook, { until: '2999-01-01T00:00:00Z' })).toBe(3);
    await finished(webhook, await dataOf(api.recover(webhook.id, { since: second, until: third }), 202));
    await hook.received(4);
    expect(idsAt(hook)[3]).toBe(events[1]!.id);
  });

  it('can be narrowed by event and by error', async () => {
    const hook = receiver.hook({ status: 500 });
    const webhook = await subscribe(api, hook, ['job.*']);
    const [started, completed] = [await publish(api, 'job.started'), await publish(api, 'job.completed')];
    for (const event of [started, completed]) await settledDeliveries(api, webhook, event);
    await dataOf(api.updateWebhook(webhook.id, { active: false }));
    const missing = await publish(api, 'job.started');
    await fannedOut(api, missing);
    await dataOf(api.updateWebhook(webhook.id, { active: true }));
    expect(await count(webhook)).toBe(3);
    expect(await count(webhook, { event: 'job.started' })).toBe(2);
    expect(await count(webhook, { event: 'job.failed' })).toBe(0);
    expect(await count(webhook, { error: 'http_status' })).toBe(2);
    expect(await count(webhook, { error: 'timeout' })).toBe(0);
    expect(await errorOf(api.recover(webhook.id, { since: since(), error: 'bad luck' }), 400)).toMatch(
      /^error must be/,
    );
    hook.answer({ status: 200 });
    const wanted = { since: since(), event: 'job.started', error: 'http_status' };
    await finished(webhook, await dataOf(api.recover(webhook.id, wanted), 202));
    await hook.received(3);
    expect(idsAt(hook)[2]).toBe(started.id);
    await settledDeliveries(api, webhook, started);
    expect(await count(webhook)).toBe(2);
  });

  it('is listed with those before it, newest first', async () => {
    const webhook = await subscribe(api, receiver.hook(), ['job.started']);
    const made: Recovery[] = [];
    for (let i = 0; i < 3; i++) made.unshift(await dataOf(api.recover(webhook.id, { since: since() }), 202));
    const first = await pageOf(api.listRecoveries(webhook.id, { limit: 2 }));
    const rest = await pageOf(api.listRecoveries(webhook.id, { limit: 2, cursor: String(first.nextCursor) }));
    expect([first.rows, rest.rows, rest.nextCursor]).toEqual([made.slice(0, 2), made.slice(2), null]);
    const other = await subscribe(api, receiver.hook(), ['job.started']);
    expect((await pageOf(api.listRecoveries(other.id))).rows).toEqual([]);
    expect(await errorOf(api.listRecoveries(other.id, { cursor: String(first.nextCursor) }), 400)).toMatch(/cursor/);
    await errorOf((await service.apiFor('bob')).listRecoveries(webhook.id), 404);
  });

  it('runs once at a time for a webhook, also when twenty ask at once, and is done at once with nothing to do', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started']);
    const nothing = await dataOf(api.recover(webhook.id, { since: since() }), 202);
    expect(nothing).toMatchObject({ status: 'done', count: 0, queued: 0, completedAt: expect.stringMatching(ISO_UTC) });
    await failedEvent(webhook, hook);
    // Unsent redeliveries of another recovery's size: this one has to wait, and so it runs.
    await occupy(webhook);
    const replies = await Promise.all(Array.from({ length: 20 }, () => api.recover(webhook.id, { since: since() })));
    const of = (status: number) => replies.filter((reply) => reply.status === status);
    expect([of(202).length, of(409).length]).toEqual([1, 19]);
    expect(await errorOf(api.recover(webhook.id, { since: since() }), 'recovery_running')).toMatch(/running/);
    expect(await count(webhook)).toBe(1);
  });

  it('waits while what it has queued is not mostly sent, and ends when the webhook is deactivated', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started']);
    await failedEvent(webhook, hook);
    await occupy(webhook);
    const recovery = await dataOf(api.recover(webhook.id, { since: since() }), 202);
    const elsewhere = receiver.hook();
    const unoccupied = await subscribe(api, elsewhere, ['job.started']);
    await failedEvent(unoccupied, elsewhere);
    await finished(unoccupied, await dataOf(api.recover(unoccupied.id, { since: since() }), 202));
    const waiting = await dataOf(api.readRecovery(webhook.id, recovery.id));
    expect(waiting).toMatchObject({ status: 'running', count: 1, queued: 0 });
    await dataOf(api.updateWebhook(webhook.id, { active: false }));
    expect(await dataOf(api.readRecovery(webhook.id, recovery.id))).toMatchObject({
      ...{ status: 'done', count: 1, queued: 0, completedAt: expect.stringMatching(ISO_UTC) },
    });
    await dataOf(api.updateWebhook(webhook.id, { active: true }));
    expect(await count(webhook)).toBe(1);
  });

  it('counts the events missed in consecutive pauses as if in a single one', async () => {
    const webhook = await subscribe(api, receiver.hook(), ['job.started']);
    for (let i = 0; i < 5; i++) {
      await dataOf(api.updateWebhook(webhook.id, { active: false }));
      await fannedOut(api, await publish(api, 'job.started'));
      await dataOf(api.updateWebhook(webhook.id, { active: true }));
    }
    const pauses = 'select from webhook_service.webhook_pauses where webhook_id = $1';
    expect(await service.database.query(pauses, [webhook.id])).toHaveLength(1);
    expect(await count(webhook)).toBe(5);
  });

  it('ends with its webhook', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(api, hook, ['job.started']);
    await failedEvent(webhook, hook);
    await occupy(webhook);
    const recovery = await dataOf(api.recover(webhook.id, { since: since() }), 202);
    await dataOf(api.deleteWebhook(webhook.id));
    await errorOf(api.readRecovery(webhook.id, recovery.id), 404);
    const left = await service.database.query(`select id from webhook_service.recoveries where status = 'running'`);
    expect(left).toEqual([]);
  });

  it.each([
    [{}, /since/],
    [{ since: 'yesterday' }, /since/],
    [{ since: null }, /since/],
    [{ since: '2026-01-15T09:30:00' }, /since/],
    [{ since: '2999-01-01T00:00:00Z' }, /since is in the future/],
    [{ since: '2026-01-15T09:30:00Z', until: '2026-01-15T09:30:00Z' }, /until/],
    [{ since: '2026-01-15T09:30:00Z', until: 'now' }, /until/],
    [{ since: '2026-01-15T09:30:00Z', dryRun: 'true' }, /dryRun/],
    [{ since: '2026-01-15T09:30:00Z', dry: true }, /dry/],
  ])('refuses %j', async (body, message) => {
    const webhook = await subscribe(api, receiver.hook(), ['job.started']);
    expect(await errorOf(api.recover(webhook.id, body), 400)).toMatch(message);
  });

  it('is refused for an inactive webhook, also as a dry run', async () => {
    const webhook = await subscribe(api, receiver.hook(), ['job.started'], { active: false });
    for (const dryRun of [false, true]) {
      expect(await errorOf(api.recover(webhook.id, { since: since(), dryRun }), 409)).toMatch(/inactive/);
    }
  });

  it('is for the owner alone', async () => {
    const webhook = await subscribe(api, receiver.hook(), ['job.started']);
    const recovery = await dataOf(api.recover(webhook.id, { since: since() }), 202);
    const other = await subscribe(api, receiver.hook(), ['job.started']);
    const stranger = await service.apiFor('mallory');
    await errorOf(stranger.recover(webhook.id, { since: since() }), 404);
    await errorOf(stranger.readRecovery(webhook.id, recovery.id), 404);
    await errorOf(api.readRecovery(other.id, recovery.id), 404);
    await errorOf(api.readRecovery(webhook.id, UNKNOWN_ID), 404);
    const reader = await service.apiFor('admin', ['deliveries:read']);
    expect(await dataOf(reader.readRecovery(webhook.id, recovery.id))).toMatchObject({ id: recovery.id });
    expect(await errorOf(reader.recover(webhook.id, { since: since() }), 403)).toContain('webhooks:write');
  });

  /** As many redeliveries on their way as a recovery waits for. */
  async function occupy(webhook: CreatedWebhook): Promise<void> {
    await service.database.query(
      `insert into webhook_service.deliveries
         (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
       select overlay(id::text placing lpad(to_hex(n), 12, '0') from 25)::uuid, webhook_id, user_id, gen_random_uuid(), event, url,
              1, 'redelivery', 'pending', now() + interval '1 hour', now() + interval '1 hour'
       from webhook_service.deliveries, generate_series(1, 100) as n where webhook_id = $1`,
      [webhook.id],
    );
  }
});
