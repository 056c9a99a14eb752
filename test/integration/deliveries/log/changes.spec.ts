import { randomUUID } from 'node:crypto';
import { ChangesRepository } from '../../../../src/deliveries/log/changes.repository';
import { type ChangeRequest, ChangesService } from '../../../../src/deliveries/log/changes.service';
import { type ChangeFilters, matches } from '../../../../src/deliveries/log/delivery-filters';
import type { Principal } from '../../../../src/auth/access-token';
import { DeliveryLogService } from '../../../../src/deliveries/log/delivery-log.service';
import { StatementsService } from '../../../../src/infrastructure/database/statements.service';
import { waitFor } from '../../../support/wait-for';
import { useApplication } from '../../stage/application';

/** A snapshot in which nothing is visible. */
const BEFORE_ALL = '3:3:';

/** Every status with every outcome, for two webhooks, two events and two names. */
const INSERT_ALL = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, subject, url, attempt, trigger, status, scheduled_at, leased_until, response_status,
     error_code, next_attempt_at)
  select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(row_number() over ()), 12, '0'))::uuid,
         w, $1, e, case when w = $2::uuid then 'job.started' else 'job.completed' end,
         case when e = $4::uuid then 'invoice/1' end, 'http://127.0.0.1/', 1, t, s, now(), now(), r, c, n
  from unnest(array[$2::uuid, $3::uuid]) w, unnest(array[$4::uuid, $5::uuid]) e, unnest(array['event', 'redelivery', 'test']) t,
       unnest(array['pending', 'succeeded', 'failed', 'canceled']) s, unnest(array[null, 200, 404, 503]) r,
       unnest(array[null, 'timeout', 'http_status']) c, unnest(array[null, now()]) n
  -- Only combinations that can occur.
  where case s when 'pending' then r is null and c is null and n is null
    when 'succeeded' then r = 200 and c is null and n is null else c is not null and (n is null or s = 'failed') end`;

describe('Changes of deliveries', () => {
  const { app, database } = useApplication();

  it('match the same filters as the log', async () => {
    const [userId, webhookId, other, eventId, another] = [
      `user-${randomUUID()}`,
      ...Array.from({ length: 4 }, () => randomUUID()),
    ];
    await database.query(INSERT_ALL, [userId, webhookId, other, eventId, another]);
    const repository = app.get(ChangesRepository);
    const from = { ...(await repository.now()), base: BEFORE_ALL };
    const { polled } = await repository.poll([{ userId, from }], []);
    const rows = polled[0]!.changes.map(({ row }) => row);
    expect(rows).toHaveLength(12 * (1 + 1 + 16 + 8));
    const values: { [Name in keyof ChangeFilters]-?: ChangeFilters[Name][] } = {
      webhookId: [undefined, webhookId],
      event: [undefined, 'job.started'],
      subject: [undefined, 'invoice/1'],
      eventId: [undefined, eventId],
      trigger: [undefined, 'redelivery', 'test'],
      status: [undefined, ['failed'], ['succeeded', 'canceled'], ['pending']],
      error: [undefined, 'timeout'],
      responseStatus: [undefined, '404', '2xx', '5xx', 'none'],
      givenUp: [undefined, true],
    };
    let all: ChangeFilters[] = [{}];
    for (const [name, options] of Object.entries(values)) {
      all = all.flatMap((filters) =>
        options.map((value) => (value === undefined ? filters : { ...filters, [name]: value })),
      );
    }
    const log = app.get(DeliveryLogService);
    // Every thirteenth combination: still combines each value with each other one.
    for (const filters of all.filter((_, i) => i % 13 === 0)) {
      const { webhookId: _, ...query } = filters;
      const found: string[] = [];
      for (let cursor: string | undefined | null; cursor !== null;) {
        const wanted = { ...query, status: query.status && [...query.status], limit: 250, cursor };
        const page = await log.listAll({ userId } as Principal, wanted, new AbortController().signal);
        found.push(
          ...page.items.filter((row) => !filters.webhookId || row.webhookId === webhookId).map(({ id }) => id),
        );
        cursor = page.nextCursor;
      }
      const matching = rows.filter((row) => matches(row, filters, {})).map(({ id }) => id);
      expect([filters, found.toSorted()]).toEqual([filters, matching.toSorted()]);
    }
  });

  it('are queried once a second for all waiting requests, and never when none waits', async () => {
    const run = jest.spyOn(app.get(StatementsService), 'run');
    const asked = () => run.mock.calls.filter(([{ name }]) => name === 'changed_deliveries').length;
    const service = app.get(ChangesService);
    const requestOf = (userId: string): ChangeRequest => ({
      principal: { userId, tokenId: null, scopes: [], expiresAt: null },
      ...{ after: null, limit: 50, waitMs: 3000, isWanted: () => true, signal: new AbortController().signal },
    });
    const users = Array.from({ length: 40 }, (_, i) => `user-${i}-${randomUUID()}`);
    const waiting = users.flatMap((user) => Array.from({ length: 5 }, () => service.read(requestOf(user))));
    await expect(service.read(requestOf('one too many'))).rejects.toMatchObject({ status: 429 });
    const answers = await Promise.all(waiting);
    expect(answers.every(({ changes }) => changes.length === 0)).toBe(true);
    // Each user's feed begins with a query.
    const [begun, polls] = [users.length, asked() - users.length];
    expect([begun, polls >= 2 && polls <= 5]).toEqual([40, true]);
    const before = asked();
    await waitFor(
      () => 'followed' in service && (service as unknown as { followed: Map<string, unknown> }).followed.size === 0,
      { what: 'the end of the feeds' },
    );
    expect(asked()).toBe(before);
    run.mockRestore();
  });
});
