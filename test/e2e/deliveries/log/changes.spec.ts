import { randomUUID } from 'node:crypto';
import { Api, type Delivery, dataOf, errorOf, pageOf, type Query } from '../../../support/api';
import { openTransaction } from '../../../support/open-transaction';
import { useReceiver } from '../../../support/receiver';
import { type Service, startService, useService } from '../../../support/service';
import { describeOnStores } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';
import { EXAMPLES } from '../../stage/examples';
import { publish, settledDeliveries, subscribe } from '../../stage/steps';

const ALL = ['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish', 'tokens:manage'];
/** Ten times the two seconds of docs/api.md. */
const LATE_MS = 20_000;

/** Settled rows of a user, each in a transaction of its own unless they are inserted at once. */
const INSERT_ROWS = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
  select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '70008000'
          || substr(md5($1::uuid::text), 1, 4) || lpad(to_hex(n + $3::int), 8, '0'))::uuid, $1::uuid, $2,
         '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90', 'job.started', 'http://127.0.0.1/', 1, 'event', 'succeeded', now(), now()
  from generate_series(1, $4::int) as n`;

interface Seen {
  id: string;
  status: string;
  at: number;
}

/** Reads changes from now on, until told to stop. */
async function follow(api: Api, query: Query = {}) {
  const seen: Seen[] = [];
  const stop = new AbortController();
  let { nextCursor } = await pageOf(api.listAllDeliveries({ ...query, changedAfter: 'now' }));
  const reading = (async () => {
    while (!stop.signal.aborted) {
      const call = {
        query: { limit: 1000, ...query, changedAfter: nextCursor!, waitSeconds: 20 },
        signal: stop.signal,
      };
      const page = await pageOf(api.call<Delivery[]>('GET', '/api/deliveries', call));
      seen.push(...page.rows.map(({ id, status }) => ({ id, status, at: Date.now() })));
      ({ nextCursor } = page);
    }
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    seen,
    stop: async () => {
      stop.abort();
      await reading;
    },
  };
}

describeOnStores('Waiting for changes', (store) => {
  const settings = () => ({
    ...{ MAX_RETRIES: '2', RETRY_BASE_DELAY_MS: '10', RETRY_FACTOR: '1' },
    // A cursor is good at every process of a service: they have the same key.
    SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
    ...store.settings(),
  });
  const service = useService(settings);
  const receiver = useReceiver();
  let api: Api;
  let userId: string;
  beforeEach(async () => {
    userId = `user-${randomUUID()}`;
    api = await service.apiFor(userId, ALL);
  });

  const nowOf = async (by: Api, query: Query = {}) =>
    (await pageOf(by.listAllDeliveries({ ...query, changedAfter: 'now' }))).nextCursor!;
  const changesAfter = (by: Api, changedAfter: string, query: Query = {}) =>
    pageOf(by.listAllDeliveries({ changedAfter, ...query }));
  const insertRows = (count: number, from = 0, user = userId) =>
    service.database.query(INSERT_ROWS, [randomUUID(), user, from, count]);

  it('shows each state of each row of 1,000 generated deliveries, in order, without delay', async () => {
    const hooks = [receiver.hook(), receiver.hook({ status: 500 }), receiver.hook({ status: 503 })];
    const webhooks = await Promise.all(hooks.map((hook) => subscribe(api, hook, ['job.started'])));
    const client = await follow(api);
    const [events, batch] = [150, 50];
    for (let sent = 0; sent < events; sent += batch) {
      const body = { event: 'job.started', data: EXAMPLES['job.started'] };
      await dataOf(api.publishBatch({ events: Array.from({ length: batch }, () => body) }), 202);
    }
    // Of each event: one row of the first webhook, and three of each other. On a busy machine an attempt may time out, and have one more.
    const settled = `
      select id, attempt, status, (extract(epoch from completed_at) * 1000)::float8 as "completedAt"
      from webhook_service.deliveries d
      where user_id = $1 and not exists (
        select from webhook_service.deliveries where user_id = $1 and status = 'pending')`;
    const rows = await waitFor(
      async () => {
        const found = await service.database.query<{
          id: string;
          attempt: number;
          status: string;
          completedAt: number;
        }>(settled, [userId]);
        return found.length >= events * 7 && found;
      },
      { what: 'the last attempt' },
    );
    const last = () =>
      rows.every(({ id, status }) => client.seen.some((one) => one.id === id && one.status === status));
    await waitFor(last, { what: 'the last change', everyMs: 100 });
    await client.stop();

    const statesOf = new Map<string, Seen[]>();
    for (const one of client.seen) statesOf.set(one.id, [...(statesOf.get(one.id) ?? []), one]);
    let latestMs = 0;
    for (const { id, attempt, status, completedAt } of rows) {
      const states = statesOf.get(id)!;
      const order = states.map((state) => state.status);
      // A first attempt is written with its outcome, unless it takes long. Every other one was pending before.
      if (attempt > 1) expect(order[0]).toBe('pending');
      expect(order.at(-1)).toBe(status);
      expect(order.toSorted((a, b) => Number(a !== 'pending') - Number(b !== 'pending'))).toEqual(order);
      latestMs = Math.max(latestMs, states.find((state) => state.status === status)!.at - completedAt);
    }
    expect([...statesOf.keys()].toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
    console.log(
      `${store.name}: a waiting client saw the latest of ${rows.length} outcomes ${Math.round(latestMs)} ms after it`,
    );
    // eslint-disable-next-line no-restricted-syntax -- ten times the promise
    expect(latestMs).toBeLessThan(LATE_MS);
    for (const { id } of webhooks) await dataOf(api.deleteWebhook(id));
  });

  it('is over with an empty list when the time is, and at once when something has changed', async () => {
    const cursor = await nowOf(api);
    const began = Date.now();
    const waited = await changesAfter(api, cursor, { waitSeconds: 1 });
    expect(waited.rows).toEqual([]);
    expect(Date.now() - began).toBeGreaterThanOrEqual(1000);
    expect(await changesAfter(api, waited.nextCursor!)).toMatchObject({ rows: [] });
    await insertRows(3);
    const changed = await changesAfter(api, cursor, { waitSeconds: 20 });
    expect(changed.rows).toHaveLength(3);
    expect((await changesAfter(api, changed.nextCursor!)).rows).toEqual([]);
  });

  it('gives 1,500 changes of one second in pages, in their order, each once', async () => {
    const cursor = await nowOf(api);
    await insertRows(1000);
    await insertRows(500, 1000);
    const ids: string[] = [];
    let after = cursor;
    const read = async (waitSeconds: number) => {
      const page = await changesAfter(api, after, { limit: 400, waitSeconds });
      ids.push(...page.rows.map(({ id }) => id));
      after = page.nextCursor!;
    };
    while (ids.length < 1500) await read(20);
    await read(1);
    const numbers = ids.map((id) => parseInt(id.slice(28), 16));
    expect(ids).toHaveLength(1500);
    expect(new Set(ids).size).toBe(1500);
    expect(numbers.slice(0, 1000).every((n) => n <= 1000)).toBe(true);
    expect(numbers.slice(1000).every((n) => n > 1000)).toBe(true);
  });

  it('misses nothing of a transaction that began before a look and ended after it', async () => {
    const first = await nowOf(api);
    const slow = await openTransaction(service.database, [INSERT_ROWS, [randomUUID(), userId, 0, 2]]);
    await insertRows(1, 10);
    const before = await changesAfter(api, first, { waitSeconds: 20 });
    expect(before.rows).toHaveLength(1);
    await insertRows(1, 20);
    const between = await changesAfter(api, before.nextCursor!, { waitSeconds: 20 });
    expect(between.rows).toHaveLength(1);
    await slow.end('commit');
    expect((await changesAfter(api, between.nextCursor!, { waitSeconds: 20 })).rows).toHaveLength(2);
    expect((await changesAfter(api, before.nextCursor!, { waitSeconds: 20 })).rows).toHaveLength(3);
  });

  it('takes all filters, of the log of one webhook too, and shows nobody else’s', async () => {
    const [mine, other] = await Promise.all(
      [receiver.hook(), receiver.hook({ status: 404 })].map((hook) => subscribe(api, hook, ['job.started'])),
    );
    const stranger = await service.apiFor(`user-${randomUUID()}`);
    const begin = async (by: Api, query: Query) => ({ by, query, cursor: await nowOf(by, query) });
    const lists = await Promise.all([
      begin(api, {}),
      begin(api, { status: 'failed' }),
      begin(api, { responseStatus: '4xx', givenUp: true }),
      begin(api, { event: 'job.completed' }),
      begin(stranger, {}),
    ]);
    const ofWebhook = (await pageOf(api.listDeliveries(mine!.id, { changedAfter: 'now' }))).nextCursor!;
    const event = await publish(api, 'job.started', { userId });
    for (const webhook of [mine!, other!]) await settledDeliveries(api, webhook, event);
    /** Reads until it has seen so many webhooks: a list may tell of one before the other. */
    const webhooksIn = async ({ by, query, cursor }: (typeof lists)[number], count: number, waitSeconds = 20) => {
      const seen = new Set<string>();
      let after = cursor;
      do {
        const { rows, nextCursor } = await changesAfter(by, after, { ...query, waitSeconds });
        for (const { webhookId } of rows) seen.add(webhookId);
        after = nextCursor!;
      } while (seen.size < count);
      return [...seen].sort();
    };
    const [both, failed, givenUp, completed, none] = lists;
    const all = await Promise.all([webhooksIn(both, 2), webhooksIn(failed, 1), webhooksIn(givenUp, 1)]);
    expect(all).toEqual([[mine!.id, other!.id].sort(), [other!.id], [other!.id]]);
    expect(await Promise.all([webhooksIn(completed, 0, 1), webhooksIn(none, 0, 1)])).toEqual([[], []]);
    const { rows } = await pageOf(api.listDeliveries(mine!.id, { changedAfter: ofWebhook, waitSeconds: 20 }));
    expect(rows.map(({ webhookId }) => webhookId)).toEqual([mine!.id]);
    expect(await errorOf(changesOf(api, { changedAfter: ofWebhook }), 400)).toMatch(/cursor/);
    expect(await errorOf(changesOf(stranger, { changedAfter: lists[0]!.cursor }), 400)).toMatch(/cursor/);
    for (const { id } of [mine!, other!]) await dataOf(api.deleteWebhook(id));
  });

  const changesOf = (by: Api, query: Query) => by.listAllDeliveries(query);

  /** Five requests that wait, and the answer to a sixth. */
  async function fiveWaiting(by: Api, changedAfter: string, signal?: AbortSignal) {
    const call = { query: { changedAfter, waitSeconds: 20 }, signal };
    const six = Array.from({ length: 6 }, () => by.call<Delivery[]>('GET', '/api/deliveries', call));
    const { refused, i } = await Promise.race(six.map(async (each, at) => ({ refused: await each, i: at })));
    return { refused, waiting: six.filter((_, at) => at !== i) };
  }

  it.each<[Query, RegExp]>([
    [{ changedAfter: 'now', cursor: 'x' }, /cursor/],
    [{ changedAfter: 'yesterday' }, /cursor/],
    [{ changedAfter: 'now', waitSeconds: 21 }, /waitSeconds/],
    [{ waitSeconds: 1 }, /changedAfter/],
    [{ limit: 251 }, /250/],
    [{ changedAfter: 'now', limit: 1001 }, /1000/],
  ])('refuses %j', async (query, message) => {
    expect(await errorOf(changesOf(api, query), 400)).toMatch(message);
  });

  it('is limited to five requests per user', async () => {
    const cursor = await nowOf(api);
    const gone = new AbortController();
    const { refused, waiting } = await fiveWaiting(api, cursor, gone.signal);
    expect(refused).toMatchObject({
      ...{ status: 429, headers: { 'retry-after': '1' }, error: expect.stringMatching(/Too many waiting requests/) },
    });
    // They hold no turn of their user, and nobody else is concerned.
    await dataOf(api.me());
    const other = await service.apiFor(`user-${randomUUID()}`);
    await changesAfter(other, await nowOf(other), { waitSeconds: 1 });
    gone.abort();
    await Promise.allSettled(waiting);
    const again = async () => (await changesOf(api, { changedAfter: cursor, waitSeconds: 1 })).success;
    await waitFor(again, { what: 'the places of those who have gone' });
  });

  it.each([
    [
      'is revoked',
      (id: string) => service.database.query('delete from webhook_service.access_tokens where id = $1', [id]),
    ],
    [
      'expires',
      (id: string) =>
        service.database.query('update webhook_service.access_tokens set expires_at = now() where id = $1', [id]),
    ],
  ])('ends with 401 when the token %s', async (_, end) => {
    const cursor = await nowOf(api);
    const { tokenId } = await dataOf(api.me());
    const { waiting } = await fiveWaiting(api, cursor);
    await end(tokenId!);
    // One that did not notice would have waited for 20 s, and returned an empty list.
    for (const each of waiting) expect(await errorOf(each, 401)).toMatch(/Authentication/);
  });

  describe('on two processes', () => {
    let second: Service;
    beforeAll(async () => {
      second = await startService(settings(), service.database);
    });
    afterAll(() => second?.stop());

    it('goes on at another process from the cursor of this one', async () => {
      const there = new Api(second.url, await service.createToken(userId, ALL));
      const cursor = await nowOf(api);
      await insertRows(2);
      const here = await changesAfter(api, cursor, { limit: 1 });
      expect(here.rows).toHaveLength(1);
      const rest = await changesAfter(there, here.nextCursor!);
      expect(rest.rows).toHaveLength(1);
      expect(rest.rows[0]!.id).not.toBe(here.rows[0]!.id);
      const waiting = changesAfter(there, rest.nextCursor!, { waitSeconds: 20 });
      await insertRows(1, 5);
      expect((await waiting).rows).toHaveLength(1);
      expect((await changesAfter(api, rest.nextCursor!)).rows).toHaveLength(1);
    });
  });

  it('is over with an answer when the service stops', async () => {
    const stopping = await startService(settings(), service.database);
    const there = new Api(stopping.url, await service.createToken(userId, ALL));
    const users = await Promise.all(
      Array.from({ length: 10 }, (_, i) => service.createToken(`waits-${i}-${userId}`, ALL)),
    );
    const cursorOf = async (token: string) => nowOf(there.withToken(token));
    const askedAt = Date.now();
    const waiting = await Promise.all(
      users.map(async (token) => {
        const { waiting: answers } = await fiveWaiting(there.withToken(token), await cursorOf(token));
        return { answers };
      }),
    );
    const exit = stopping.stop();
    const answers = await Promise.all(waiting.flatMap((each) => each.answers));
    expect(answers.every(({ success }) => success)).toBe(true);
    const answeredAt = Date.now();
    expect(await exit).toBe(0);
    // Otherwise they would have waited for as long as they asked.
    expect(answeredAt - askedAt).toBeLessThan(20_000);
  });
});
