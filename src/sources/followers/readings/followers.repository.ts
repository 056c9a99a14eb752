import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { BY_INDEX_ONLY } from '../../../infrastructure/database/statements.service';
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

/** The next 5,000 rows of an account in a table, after the id `$3`. */
const pageOf = (table: string, and = ''): string => `
  page as materialized (
    select * from webhook_service.${table} where account_id = $1 ${and} and follower_id > $3 order by follower_id limit 5000
  )`;
/** Matches a row within the page. */
const isInPage = (row: string): string => `
  ${row}.account_id = $1 and ${row}.follower_id > $3 and ${row}.follower_id <= (select max(follower_id) from page)`;
const LAST = 'select max(follower_id) as last from page';

// One statement for a long list would take longer than a statement may. Each of these changes one page, and returns its last id.

const DELETE_LOST = `
  with ${pageOf('account_followers')}, lost as (
    delete from webhook_service.account_followers k where ${isInPage('k')} and not exists (
      select from webhook_service.staged_followers s
      where ${isInPage('s')} and s.reading_id = $2 and s.follower_id = k.follower_id)
  )
  ${LAST}`;

/** Followers who stay keep their rows; new names are stored. */
const TAKE_OVER = `
  with ${pageOf('staged_followers', 'and reading_id = $2')}, taken as (
    insert into webhook_service.account_followers (account_id, follower_id, username, display_name)
    select account_id, follower_id, username, display_name from page
    where not exists (
      select from webhook_service.account_followers k
      where ${isInPage('k')} and k.follower_id = page.follower_id
        and (k.username, k.display_name) is not distinct from (page.username, page.display_name)
    )
    on conflict (account_id, follower_id) do update set username = excluded.username, display_name = excluded.display_name
  )
  ${LAST}`;

const CLEAR = `
  with ${pageOf('staged_followers', 'and reading_id = $2')}, cleared as (
    delete from webhook_service.staged_followers s where ${isInPage('s')} and s.reading_id = $2
  )
  ${LAST}`;

const DISCONNECTED = `
  select id from webhook_service.accounts where deleted_at is not null order by deleted_at limit 100 for update skip locked`;

const deletePageOf = (table: string): string => `
  delete from webhook_service.${table} where ctid = any(array(
    select ctid from webhook_service.${table} where account_id = $1 limit 5000 for update skip locked))`;
/** In the order in which they run; each when the one before finds nothing. */
const DELETE_DISCONNECTED = [
  deletePageOf('account_followers'),
  deletePageOf('staged_followers'),
  `delete from webhook_service.accounts a where id = $1
     and not exists (select from webhook_service.account_followers where account_id = a.id)
     and not exists (select from webhook_service.staged_followers where account_id = a.id)`,
];

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
    await this.change(manager, DELETE_LOST, accountId, readingId);
    await this.change(manager, TAKE_OVER, accountId, readingId);
  }

  /** Deletes the staged list of a reading. Changes the plans of the rest of the transaction. */
  async clear(manager: EntityManager, accountId: string, readingId: string): Promise<void> {
    await this.change(manager, CLEAR, accountId, readingId);
  }

  /**
   * Deletes up to 5,000 followers of an account that was disconnected, or the account itself after the last one. Returns false when
   * there is none, except those that others have locked.
   */
  async deletePage(manager: EntityManager): Promise<boolean> {
    for (const { id } of await manager.query<{ id: string }[]>(DISCONNECTED)) {
      for (const statement of DELETE_DISCONNECTED) {
        const [, count] = await manager.query<[unknown, number]>(statement, [id]);
        if (count > 0) return true;
      }
    }
    return false;
  }

  /** Runs a statement for each page of an account, in the order of the primary key, whatever the planner expects of new rows. */
  private async change(manager: EntityManager, statement: string, accountId: string, readingId: string): Promise<void> {
    await manager.query(BY_INDEX_ONLY);
    for (let after: string | null = ''; after !== null;) {
      const [page]: [{ last: string | null }] = await manager.query(statement, [accountId, readingId, after]);
      after = page.last;
    }
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
