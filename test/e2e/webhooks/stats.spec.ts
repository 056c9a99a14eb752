import { randomUUID } from 'node:crypto';
import { allPagesOf, type Api, type Delivery, dataOf, errorOf, pageOf } from '../../support/api';
import { miscountsOf } from '../../support/miscounts';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { publish, settledDeliveries, subscribe } from '../stage/steps';
import { DAY_MS } from '../../../src/infrastructure/config/durations';

const RANDOM_STATUSES = [200, 200, 200, 204, 404, 500];
const SCOPES = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish'];
const NOTHING = { succeeded: 0, failed: 0, canceled: 0, p50Ms: null, p95Ms: null, byError: {} };

/** The value at this rank of the log's durations of answers. */
function exactPercentile(rows: readonly Delivery[], share: number): number | null {
  const durations = rows
    .flatMap(({ responseStatus, durationMs }) => (responseStatus === null ? [] : [durationMs ?? 0]))
    .sort((a, b) => a - b);
  return durations[Math.ceil(share * durations.length) - 1] ?? null;
}

const isWithin20Percent = (value: number | null, exact: number | null) =>
  value === exact || Math.abs((value ?? NaN) - (exact ?? NaN)) <= 0.2 * (exact ?? 0);

describeOnStores('The numbers of attempts', (store) => {
  const service = useService(() => ({
    ...{ MAX_RETRIES: '1', RETRY_BASE_DELAY_MS: '10', RETRY_FACTOR: '1', DISABLE_AFTER_FAILURES: '1000' },
    ...store.settings(),
  }));
  const receiver = useReceiver();
  let api: Api;
  beforeEach(async () => {
    api = service.api.withToken(await service.createToken(`user-${randomUUID()}`, SCOPES));
  });

  /** Every attempt in the log, tests apart. */
  const logOf = async (query = {}) =>
    (await allPagesOf(api.listAllDeliveries, { ...query, limit: 250 }))
      .flat()
      .filter(({ trigger }) => trigger !== 'test');

  const countOf = (rows: readonly Delivery[], status: string) => rows.filter((row) => row.status === status).length;

  it('equal the log after a generated run, for each webhook and for all, deleted ones too', async () => {
    const webhooks = await Promise.all(
      Array.from({ length: 4 }, (_, i) => {
        const answer = () => ({ status: RANDOM_STATUSES[Math.floor(Math.random() * RANDOM_STATUSES.length)] });
        return subscribe(api, receiver.hook({ ...answer(), delayMs: i * 30 }), ['job.started']);
      }),
    );
    const away = await subscribe(api, { url: 'http://127.0.0.1:9/' }, ['job.started']);
    const me = await dataOf(api.me());
    const events = await Promise.all(
      Array.from({ length: 20 }, () => publish(api, 'job.started', { userId: me.userId })),
    );
    for (const event of events) {
      for (const webhook of [...webhooks, away]) await settledDeliveries(api, webhook, event);
    }
    const [first] = await settledDeliveries(api, webhooks[0]!, events[0]!);
    await dataOf(api.redeliver(webhooks[0]!.id, first!.id), 202);
    await settledDeliveries(api, webhooks[0]!, events[0]!);
    await dataOf(api.testWebhook(webhooks[1]!.id));
    await dataOf(api.deleteWebhook(webhooks[3]!.id));

    expect(await miscountsOf(service.database)).toEqual([]);
    const rows = await logOf();
    for (const step of ['5m', '1h', '1d']) {
      const { steps, totals } = await dataOf(api.stats({ step }));
      expect(totals).toMatchObject({
        succeeded: countOf(rows, 'succeeded'),
        failed: countOf(rows, 'failed'),
        canceled: 0,
        byError: { connection_refused: 40 },
      });
      expect(steps.reduce((sum, each) => sum + each.succeeded, 0)).toBe(totals.succeeded);
    }
    // A count has the time of its commit, a row that of its answer: they are milliseconds apart.
    const times = rows.map(({ completedAt }) => Date.parse(completedAt!));
    const { steps: fiveMinutes } = await dataOf(api.stats({ step: '5m' }));
    for (const { from } of fiveMinutes.filter(({ succeeded }) => succeeded > 0)) {
      expect(Date.parse(from)).toBeGreaterThan(Math.min(...times) - 301_000);
      expect(Date.parse(from)).toBeLessThanOrEqual(Math.max(...times));
    }
    for (const webhook of [...webhooks.slice(0, 3), away]) {
      const own = rows.filter(({ webhookId }) => webhookId === webhook.id);
      const { totals } = await dataOf(api.stats({ webhookId: webhook.id, step: '5m' }));
      expect(totals).toMatchObject({ succeeded: countOf(own, 'succeeded'), failed: countOf(own, 'failed') });
      expect(isWithin20Percent(totals.p50Ms, exactPercentile(own, 0.5))).toBe(true);
      expect(isWithin20Percent(totals.p95Ms, exactPercentile(own, 0.95))).toBe(true);
    }
    expect(await errorOf(api.stats({ webhookId: webhooks[3]!.id }), 404)).toMatch(/no webhook/);
  });

  it('take a canceled attempt back when it was made after all', async () => {
    let answer: () => void = () => undefined;
    const hook = receiver.hook({ status: 200, after: new Promise<void>((resolve) => (answer = resolve)) });
    const webhook = await subscribe(api, hook, ['job.started']);
    const { userId } = await dataOf(api.me());
    const event = await publish(api, 'job.started', { userId });
    await hook.received(1);
    const isPending = async () => (await pageOf(api.listDeliveries(webhook.id))).rows.length === 1;
    await waitFor(isPending, { what: 'the row of a slow attempt' });
    await dataOf(api.updateWebhook(webhook.id, { active: false }));
    expect((await dataOf(api.stats())).totals).toMatchObject({ canceled: 1, byError: { webhook_disabled: 1 } });
    answer();
    await waitFor(async () => (await dataOf(api.stats())).totals.succeeded === 1, { what: 'the outcome' });
    expect(await settledDeliveries(api, webhook, event)).toMatchObject([{ status: 'succeeded' }]);
    expect((await dataOf(api.stats())).totals).toMatchObject({ succeeded: 1, canceled: 0, byError: {} });
    expect(await miscountsOf(service.database)).toEqual([]);
  });

  it('come in steps of UTC, over midnight too', async () => {
    const webhook = await subscribe(api, receiver.hook(), ['job.started']);
    const { userId } = await dataOf(api.me());
    const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    const at = (ms: number) => new Date(midnight + ms).toISOString();
    const count = (ms: number, status: string, n: number) =>
      service.database.query(`insert into webhook_service.recent_attempts values ($1, $2, $3, '', 1, $4, $5)`, [
        webhook.id,
        userId,
        status,
        at(ms),
        n,
      ]);
    await count(-1, 'succeeded', 3);
    await count(0, 'failed', 2);
    await count(1, 'failed', 1);
    const expectSteps = async () => {
      for (const [step, ms] of [
        ['5m', 300_000],
        ['1h', 3_600_000],
        ['1d', DAY_MS],
      ] as const) {
        const { steps, totals } = await dataOf(api.stats({ since: at(-1), until: at(1), step }));
        expect(steps).toEqual([
          { ...NOTHING, from: at(-ms), succeeded: 3, p50Ms: 0, p95Ms: 0 },
          { ...NOTHING, from: at(0), failed: 3, p50Ms: 0, p95Ms: 0 },
        ]);
        expect(totals).toMatchObject({ succeeded: 3, failed: 3 });
      }
    };
    await expectSteps();
    // A process sums attempts up after it has counted one, here of another user.
    const another = await subscribe(service.api, receiver.hook(), ['job.completed']);
    const event = await publish(service.api, 'job.completed', { userId: (await dataOf(service.api.me())).userId });
    await settledDeliveries(service.api, another, event);
    const isSummedUp = async () =>
      (await service.database.query('select from webhook_service.recent_attempts')).length === 0;
    await waitFor(isSummedUp, { what: 'the sums' });
    await expectSteps();
    const { steps } = await dataOf(api.stats());
    expect(steps.length === 24 || steps.length === 25).toBe(true);
  });

  it('are 300 steps at most, of one’s own webhooks', async () => {
    const { id } = await subscribe(service.api, receiver.hook(), ['job.started']);
    const until = new Date(Math.floor(Date.now() / 300_000) * 300_000);
    const stepsAgo = (n: number) => ({ since: new Date(until.getTime() - n * 300_000).toISOString() });
    const span = { until: until.toISOString(), step: '5m' };
    expect((await dataOf(api.stats({ ...span, ...stepsAgo(300) }))).steps).toHaveLength(300);
    expect(await errorOf(api.stats({ ...span, ...stepsAgo(301) }), 400)).toMatch(/301 steps.*300/);
    expect(await errorOf(api.stats({ ...span, ...stepsAgo(-1) }), 400)).toMatch(/until must be later/);
    expect(await errorOf(api.stats({ step: '1m' }), 400)).toMatch(/step must be/);
    expect(await errorOf(api.stats({ webhookId: 'x' }), 400)).toMatch(/webhookId must be a UUID/);
    expect(await errorOf(api.stats({ webhookId: id }), 404)).toMatch(/no webhook/);
  });

  it('are shown beside each webhook where that is wanted, to who may read deliveries', async () => {
    const good = await subscribe(api, receiver.hook(), ['job.started']);
    const idle = await subscribe(api, receiver.hook(), ['job.completed']);
    expect(good.lastSuccessAt).toBeNull();
    const { userId } = await dataOf(api.me());
    const began = Date.now();
    const event = await publish(api, 'job.started', { userId });
    await settledDeliveries(api, good, event);
    await dataOf(api.testWebhook(idle.id));
    const { rows } = await pageOf(api.listWebhooks({ include: 'stats' }));
    const [idleRow, goodRow] = rows;
    expect(idleRow).toMatchObject({ id: idle.id, lastSuccessAt: null });
    expect(idleRow!.stats).toMatchObject({
      ...{ totals: NOTHING, pending: 0, nextDueAt: null, lastDeliveryAt: null, failingSince: null },
      health: 'no_traffic',
    });
    expect(goodRow!.stats).toMatchObject({
      totals: { ...NOTHING, succeeded: 1, p50Ms: expect.any(Number), p95Ms: expect.any(Number) },
      ...{ failingSince: null, health: 'healthy' },
    });
    expect(goodRow!.stats!.steps).toHaveLength(24);
    expect(goodRow!.stats!.steps.slice(-2).map(({ succeeded }) => succeeded)).toContain(1);
    expect(goodRow!.stats!.lastDeliveryAt).toBe(goodRow!.lastSuccessAt);
    const age = began - Date.parse(goodRow!.lastSuccessAt!);
    // Exact, not the beginning of its five minutes. The clock of this process and PostgreSQL's are the same.
    expect(age).toBeLessThan(1000);
    expect(age).toBeGreaterThan(began - Date.now() - 1000);
    expect((await dataOf(api.readWebhook(good.id))).lastSuccessAt).toBe(goodRow!.lastSuccessAt);
    expect((await pageOf(api.listWebhooks())).rows[0]).not.toHaveProperty('stats');
    expect(await dataOf(api.readWebhook(good.id, { include: 'stats' }))).toEqual(goodRow);
    const blind = service.api.withToken(await service.createToken(userId, ['webhooks:read']));
    expect(await errorOf(blind.listWebhooks({ include: 'stats' }), 403)).toMatch(/deliveries:read/);
    expect(await errorOf(blind.readWebhook(good.id, { include: 'stats' }), 403)).toMatch(/deliveries:read/);
  });

  it('say how a webhook is doing, since when it fails, and when it is tried next', async () => {
    const hook = receiver.hook({ status: 500 });
    const webhook = await subscribe(api, hook, ['job.started']);
    const { userId } = await dataOf(api.me());
    const shown = async () => (await pageOf(api.listWebhooks({ include: 'stats' }))).rows[0]!;
    const first = await publish(api, 'job.started', { userId });
    const failed = await settledDeliveries(api, webhook, first);
    await waitFor(async () => (await shown()).consecutiveFailures === 1, { what: 'the count' });
    const failing = await shown();
    // A count has the time of its commit, a row that of its answer.
    const failingSince = failed.map(({ completedAt }) => completedAt!).sort()[0];
    expect(failing).toMatchObject({ lastSuccessAt: null, stats: { health: 'failing', failingSince, nextDueAt: null } });
    expect(Date.parse(failing.lastFailureAt!)).toBeGreaterThanOrEqual(Date.parse(failingSince!));
    expect(failing.stats!.lastDeliveryAt).toBe(failing.lastFailureAt);

    hook.answer({ status: 200 });
    await settledDeliveries(api, webhook, await publish(api, 'job.started', { userId }));
    await waitFor(async () => (await shown()).consecutiveFailures === 0, { what: 'the count to be cleared' });
    expect(await shown()).toMatchObject({
      lastFailureAt: failing.lastFailureAt,
      stats: { health: 'healthy', failingSince: null },
    });

    hook.answer({ status: 503, headers: { 'retry-after': '600' } });
    const last = await publish(api, 'job.started', { userId });
    const retry = async () =>
      (await pageOf(api.listDeliveries(webhook.id, { eventId: last.id, status: 'pending' }))).rows[0];
    await waitFor(async () => (await retry())?.attempt === 2, { what: 'a pending retry' });
    const { scheduledAt } = (await retry())!;
    const [{ completedAt }] = (await pageOf(api.listDeliveries(webhook.id, { eventId: last.id, status: 'failed' })))
      .rows as [Delivery];
    expect((await shown()).stats).toMatchObject({ pending: 1, nextDueAt: scheduledAt, failingSince: completedAt });
    await dataOf(api.updateWebhook(webhook.id, { active: false }));
    expect((await shown()).stats).toMatchObject({ pending: 0, nextDueAt: null, health: 'disabled' });
  });
});
