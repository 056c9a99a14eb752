import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Follower } from '../follower';

export interface Difference {
  gained: number;
  lost: number;
  known: number;
  staged: number;
}

const STAGE = `
  insert into webhook_service.staged_followers (account_id, reading_id, follower_id, username, display_name)
  select $1, $2, f.* from unnest($3::text[], $4::text[], $5::text[]) as f`;

/**
 * The planner has no statistics of rows that were just staged and expects few of them. It would choose a nested loop
 * and compare each of 100,000 followers with each of 100,000.
 */
const PLAN_FOR_MANY = 'set local enable_nestloop = off';

const COMPARE = `
  select count(*) filter (where k.follower_id is null)::integer as gained,
    count(*) filter (where s.follower_id is null)::integer as lost,
    count(k.follower_id)::integer as known,
    count(s.follower_id)::integer as staged
  from (
    select follower_id from webhook_service.staged_followers where account_id = $1 and reading_id = $2
  ) as s full join (
    select follower_id from webhook_service.account_followers where account_id = $1
  ) as k using (follower_id)`;

const FOLLOWER = `
  f.follower_id as id, f.username, f.display_name as "displayName"`;

const GAINED = `
  select ${FOLLOWER} from webhook_service.staged_followers f
  where f.account_id = $1 and f.reading_id = $2 and not exists (
    select from webhook_service.account_followers k where k.account_id = $1 and k.follower_id = f.follower_id
  )`;

const LOST = `
  select ${FOLLOWER} from webhook_service.account_followers f
  where f.account_id = $1 and not exists (
    select from webhook_service.staged_followers s
    where s.account_id = $1 and s.reading_id = $2 and s.follower_id = f.follower_id
  )`;

const DELETE_LOST = `
  delete from webhook_service.account_followers k
  where k.account_id = $1 and not exists (
    select from webhook_service.staged_followers s
    where s.account_id = $1 and s.reading_id = $2 and s.follower_id = k.follower_id
  )`;

/** Each page is read in the order of the primary key, whatever the planner expects of rows that were just staged. */
const PLAN_FOR_PAGES = 'set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off';

/**
 * Takes over up to 5,000 followers after the id `$3`, in their order, and returns the last id of the page. One statement for a
 * long list would take longer than a statement may. Followers who stay keep their rows; new names are stored.
 */
const TAKE_OVER = `
  with page as (
    select * from webhook_service.staged_followers
    where account_id = $1 and reading_id = $2 and follower_id > $3 order by follower_id limit 5000
  ), taken as (
    insert into webhook_service.account_followers (account_id, follower_id, username, display_name)
    select account_id, follower_id, username, display_name from page
    where not exists (
      select from webhook_service.account_followers k
      where k.account_id = $1 and k.follower_id > $3 and k.follower_id <= (select max(follower_id) from page)
        and k.follower_id = page.follower_id
        and (k.username, k.display_name) is not distinct from (page.username, page.display_name)
    )
    on conflict (account_id, follower_id) do update set username = excluded.username, display_name = excluded.display_name
  )
  select max(follower_id) as last from page`;

const CLEAR = 'delete from webhook_service.staged_followers where account_id = $1';

const FETCH = 'fetch 1000 from changed_followers';

interface FollowerRow {
  id: string;
  username: string;
  displayName: string | null;
}

/** Returns followers as the arrays that a statement unnests: ids, usernames, display names. */
export function columnsOf(followers: readonly Follower[]): [string[], string[], (string | null)[]] {
  return [
    followers.map(({ id }) => id),
    followers.map(({ username }) => username),
    followers.map(({ displayName }) => displayName || null),
  ];
}

@Injectable()
export class FollowersRepository {
  /** Adds followers to the staged list of a reading. Fails when one of them is already staged. */
  async stage(
    manager: EntityManager,
    accountId: string,
    readingId: string,
    followers: readonly Follower[],
  ): Promise<void> {
    await manager.query(STAGE, [accountId, readingId, ...columnsOf(followers)]);
  }

  /** Compares the staged list with the current one. Disables nested loops for the rest of the transaction. */
  async compare(manager: EntityManager, accountId: string, readingId: string): Promise<Difference> {
    await manager.query(PLAN_FOR_MANY);
    const [difference] = await manager.query<[Difference]>(COMPARE, [accountId, readingId]);
    return difference;
  }

  /** Returns the followers that are only in the staged list, in pages. */
  gained(manager: EntityManager, accountId: string, readingId: string): AsyncGenerator<Follower[]> {
    return this.pages(manager, GAINED, accountId, readingId);
  }

  /** Returns the followers that are only in the current list, in pages. */
  lost(manager: EntityManager, accountId: string, readingId: string): AsyncGenerator<Follower[]> {
    return this.pages(manager, LOST, accountId, readingId);
  }

  /** Makes the staged list the current one. Changes the plans of the rest of the transaction. */
  async takeOver(manager: EntityManager, accountId: string, readingId: string): Promise<void> {
    await manager.query(DELETE_LOST, [accountId, readingId]);
    await manager.query(PLAN_FOR_PAGES);
    for (let after: string | null = ''; after !== null;) {
      const [page]: [{ last: string | null }] = await manager.query(TAKE_OVER, [accountId, readingId, after]);
      after = page.last;
    }
  }

  /** Deletes all staged rows of an account. The caller has locked the account. */
  async clear(manager: EntityManager, accountId: string): Promise<void> {
    await manager.query(CLEAR, [accountId]);
  }

  private async *pages(
    manager: EntityManager,
    statement: string,
    accountId: string,
    readingId: string,
  ): AsyncGenerator<Follower[]> {
    await manager.query(`declare changed_followers no scroll cursor for ${statement}`, [accountId, readingId]);
    for (;;) {
      const rows = await manager.query<FollowerRow[]>(FETCH);
      if (rows.length === 0) break;
      yield rows.map(({ displayName, ...names }) => (displayName === null ? names : { ...names, displayName }));
    }
    await manager.query('close changed_followers');
  }
}
