import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { ChangesRepository } from '../../../../src/deliveries/log/changes.repository';
import { type ChangeRequest, ChangesService } from '../../../../src/deliveries/log/changes.service';
import type { ChangePosition } from '../../../../src/deliveries/log/change-position';
import { StatementsService } from '../../../../src/infrastructure/database/statements.service';
import { useApplication } from '../../stage/application';
import { planOf } from '../../stage/plans';

/** Restored rows: their transaction ids come from another cluster, $3 ahead of this one. */
const RESTORE = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until, created_in, changed_in)
  select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
         $1::uuid, $2, $1::uuid, 'job.started', 'http://127.0.0.1/', 1, 'event', case when n <= 20 then 'succeeded' else 'pending' end,
         now(), now() + interval '1 day', ahead, ahead
  from generate_series(1, $4::int) as n, lateral (select (pg_current_xact_id()::text::bigint + $3::int + n)::text::xid8 as ahead) as x
  returning id, status`;

describe('After a restore into a cluster with fewer transactions, the change feed', () => {
  const { app, database } = useApplication();

  async function pass(transactions: number): Promise<void> {
    for (let i = 0; i < transactions; i++) await database.query('select pg_current_xact_id()');
  }

  it('returns each new change once, and no change from before the restore', async () => {
    const [userId, changes] = [`user-${randomUUID()}`, app.get(ChangesRepository)];
    const rows = await database.query<{ id: string; status: string }>(RESTORE, [randomUUID(), userId, 30, 25]);
    const given: string[] = [];
    const poll = async (from: ChangePosition): Promise<ChangePosition> => {
      const { polled } = await changes.poll([{ userId, from }], []);
      given.push(...(polled[0]?.changes ?? []).map(({ row }) => `${row.status} ${row.id}`));
      return polled[0]?.to as ChangePosition;
    };
    const begin = await changes.now();
    let position = await poll(begin);
    // The transaction counter passes the ids of the rows, and continues.
    for (let i = 0; i < 12; i++) {
      await pass(10);
      position = await poll(position);
    }
    expect(given).toEqual([]);
    await poll(begin);
    expect(given).toEqual([]);
    const { id } = rows.find(({ status }) => status === 'pending') as { id: string };
    await database.query(
      `update webhook_service.deliveries set status = 'succeeded', changed_in = pg_current_xact_id() where id = $1`,
      [id],
    );
    position = await poll(position);
    await poll(position);
    expect(given).toEqual([`succeeded ${id}`]);
  });

  it('reads none of the restored rows to find changes', async () => {
    const [userId, changes] = [`user-${randomUUID()}`, app.get(ChangesRepository)];
    await database.query(RESTORE, [randomUUID(), userId, 1_000_000, 2000]);
    await database.query('analyze webhook_service.deliveries');
    const run = jest.spyOn(app.get(StatementsService), 'run');
    await changes.poll([{ userId, from: await changes.now() }], []);
    const [{ text }, parameters] = run.mock.calls.at(-1)!;
    run.mockRestore();
    const { looked } = await planOf(app.get(DataSource), { sql: text, parameters: [...parameters] });
    expect(looked).toBeLessThan(100);
  });

  const requestFrom = (after: ChangePosition | null, waitMs: number): ChangeRequest => ({
    principal: { userId: `user-${randomUUID()}`, tokenId: null, scopes: [], expiresAt: null },
    ...{ after, limit: 50, waitMs, isWanted: () => true, signal: new AbortController().signal },
  });

  it('rejects a position from another cluster or timeline with fewer transactions', async () => {
    const { history, base } = await app.get(ChangesRepository).now();
    for (const other of [history.replace(/^./, '1'), history.replace(/.$/, '9'), history.replace(/\w+$/, 'standby')]) {
      const request = requestFrom({ history: other, base, upTo: null }, 0);
      await expect(app.get(ChangesService).read(request)).rejects.toMatchObject({ code: 'cursor_invalid' });
    }
  });

  it('asks for neither on Amazon Aurora, whose functions for them fail', async () => {
    await database.query('create function public.aurora_version() returns text language sql return $$16.4$$');
    try {
      expect((await app.get(ChangesRepository).now()).history).toBe('aurora');
    } finally {
      await database.query('drop function public.aurora_version()');
    }
  });

  it('rejects a position from the other cluster, even while a request waits', async () => {
    const ahead: ChangePosition = { ...(await app.get(ChangesRepository).now()), base: '1000000000:1000000000:' };
    const service = app.get(ChangesService);
    const refused = { status: 400, message: expect.stringMatching(/begin with changedAfter=now/) as unknown };
    await expect(service.read(requestFrom(ahead, 0))).rejects.toMatchObject(refused);
    await expect(service.read(requestFrom(ahead, 5000))).rejects.toMatchObject(refused);
    const now = jest.spyOn(app.get(ChangesRepository), 'now').mockResolvedValueOnce(ahead);
    await expect(service.read(requestFrom(null, 20_000))).rejects.toMatchObject(refused);
    now.mockRestore();
  });
});
