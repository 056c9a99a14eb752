import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FollowerReadingsRepository } from '../../../src/sources/followers/readings/follower-readings.repository';
import { type ServedFollower, useFollowerServer } from '../../support/follower-server';
import { openTransaction } from '../../support/open-transaction';
import { waitFor } from '../../support/wait-for';
import { useFollowerMonitor } from '../stage/follower-monitor';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const follower = (i: number): ServedFollower => ({ id: `id-${i}`, name: `user${i}@far.example` });
const followers = (count: number) => Array.from({ length: count }, (_, i) => follower(i));

const server = useFollowerServer();
const monitor = useFollowerMonitor(server);
let users = 0;

/** Connects an account without followers, and reads it for the first time. */
async function connected() {
  server.serve([]);
  const userId = `user-${(users += 1)}`;
  const { id } = await monitor.accounts.create(userId, {
    provider: 'bluesky',
    handle: 'ada.example.org',
    intervalSeconds: 300,
  });
  expect(await waitFor(() => monitor.readDue(), { what: 'the first reading' })).toBe(1);
  return { id, read: () => monitor.accounts.read(userId, id), remove: () => monitor.accounts.remove(userId, id) };
}

describe('A reading with very many changes', () => {
  const know = (id: string, count: number) =>
    monitor.database.query(
      `insert into webhook_service.account_followers (account_id, follower_id, username)
       select $1, 'id-' || i, 'user' || i || '@far.example' from generate_series(0, $2 - 1) i`,
      [id, count],
    );

  it('counts at once up to 10,000, and beyond when the next one confirms it and replaces it', async () => {
    const account = await connected();
    server.serve(followers(10_000));
    await monitor.readNow(account.id);
    expect(await account.read()).toMatchObject({ followersCount: 10_000, lastError: null });
    server.serve(followers(20_001));
    await monitor.readNow(account.id);
    const suspected = expect.stringMatching(/gained more than 10000 followers: it counts when/);
    expect(await account.read()).toMatchObject({ followersCount: 10_000, lastError: suspected });
    expect(await monitor.events(account.id)).toHaveLength(10_000);
    server.serve(followers(20_005));
    await monitor.readNow(account.id);
    expect(await account.read()).toMatchObject({ followersCount: 20_005, lastError: null });
    expect(await monitor.events(account.id)).toHaveLength(20_005);
  });

  it('needs the same confirmation for too many lost followers', async () => {
    const account = await connected();
    await know(account.id, 10_003);
    server.serve(followers(2));
    await monitor.readNow(account.id);
    expect((await account.read()).lastError).toMatch(/lost more than 10000/);
    const written = await writtenByStatements();
    await monitor.readNow(account.id);
    expect(await account.read()).toMatchObject({ followersCount: 2, lastError: null });
    expect(await monitor.events(account.id)).toHaveLength(10_001);
    expect(Math.max(...(await written()))).toBe(5000);
  });

  it('is disconnected at once, and its followers are deleted in pages, by one process at a time', async () => {
    const account = await connected();
    await know(account.id, 12_000);
    const written = await writtenByStatements();
    await account.remove();
    await expect(account.read()).rejects.toThrow(/no account/);
    await expect(account.remove()).rejects.toThrow(/no account/);
    expect(await monitor.readDue()).toBe(0);
    expect(await written()).toEqual([]);
    const deletePage = () => monitor.app.get(FollowerReadingsRepository).deletePage();
    const rowsOf = () => monitor.database.query('select from webhook_service.accounts where id = $1', [account.id]);
    const lock = await openTransaction(monitor.database, [
      'select from webhook_service.accounts where id = $1 for update',
      [account.id],
    ]);
    expect(await deletePage()).toBe(false);
    await lock.end('rollback');
    const lockOfOne = await openTransaction(monitor.database, [
      `select from webhook_service.account_followers where account_id = $1 and follower_id = 'id-0' for update`,
      [account.id],
    ]);
    while (await deletePage());
    expect((await monitor.rows(account.id)).known).toEqual(['id-0']);
    await lockOfOne.end('rollback');
    while (await deletePage());
    expect([await rowsOf(), await monitor.rows(account.id)]).toEqual([[], { known: [], staged: 0 }]);
    expect((await written()).filter((rows) => rows > 0)).toEqual([5000, 5000, 1999, 1]);
  });

  it('of 100,000 followers does not keep them in memory, and stores at most 5,000 by a statement', async () => {
    const account = await connected();
    await know(account.id, 100_000);
    const written = await writtenByStatements();
    // 500 followers left and 500 came; the list is generated item by item.
    server.serve({ length: 100_000, at: (place) => follower(place + 500) });
    const idle = liveBytes();
    let [pages, most] = [0, 0];
    server.interrupt(() => {
      pages += 1;
      if (pages % 50 === 0) most = Math.max(most, liveBytes() - idle);
      return undefined;
    });
    await monitor.readNow(account.id);
    most = Math.max(most, liveBytes() - idle);
    expect(pages).toBe(1000);
    expect(await account.read()).toMatchObject({ followersCount: 100_000, lastError: null });
    expect(await monitor.events(account.id)).toHaveLength(1000);
    expect(most).toBeLessThan(100 * 2 ** 20);
    expect(Math.max(...(await written()))).toBe(5000);
  });

  it('does not write the followers who stay', async () => {
    const account = await connected();
    server.serve(followers(6000));
    await monitor.readNow(account.id);
    server.serve([...followers(5999), { ...follower(5999), name: 'renamed' }]);
    const written = await writtenByStatements();
    await monitor.readNow(account.id);
    // The new name, and the end of the staged list.
    expect((await written()).filter((rows) => rows > 0)).toEqual([1, 5000, 1000]);
    const locked = 'select from webhook_service.account_followers where xmax <> 0';
    expect(await monitor.database.query(locked)).toHaveLength(1);
  });
});

/** Counts from now on the rows that each statement inserts, updates or deletes. Returns a function that returns the counts. */
async function writtenByStatements(): Promise<() => Promise<number[]>> {
  const trigger = (what: string, table = 'account') => `
    create or replace trigger written_by_${what} after ${what} on webhook_service.${table}_followers
    referencing ${what === 'delete' ? 'old' : 'new'} table as written
    for each statement execute function public.note_written();`;
  await monitor.database.query(`
    create table if not exists public.written_followers (number integer not null);
    truncate public.written_followers;
    create or replace function public.note_written() returns trigger language plpgsql as $$
      begin insert into public.written_followers select count(*) from written; return null; end $$;
    ${trigger('insert')} ${trigger('update')} ${trigger('delete')} ${trigger('delete', 'staged')}`);
  const counts = 'select number from public.written_followers';
  return async () => (await monitor.database.query<{ number: number }>(counts)).map(({ number }) => number);
}

/** Returns the live bytes of this process, without garbage. */
function liveBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
