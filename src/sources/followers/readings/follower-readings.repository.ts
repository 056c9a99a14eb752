import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { StatementsService, statement } from '../../../infrastructure/database/statements.service';
import { Account } from '../account.entity';
import { type Follower, ReadingAbandoned } from '../follower';
import { columnsOf, FollowersRepository } from './followers.repository';

/** An account that this process has claimed and may read while it holds it. */
export interface Reading {
  id: string;
  readingId: string;
  provider: Account['provider'];
  handle: string;
}

/** How long a reading holds its account after each page. A page takes less, even with the longest timeout. */
const HELD = `interval '3 minutes'`;

/** Maximum number of a user's accounts that are read at once, so that one user's slow servers do not delay other users. */
const MOST_OF_A_USER = 3;

/** No account waits longer than a day for its next reading: a time more than two days ahead comes from a clock that was ahead. */
const isDue = (a: string): string =>
  `(${a}.next_reading_at <= now() or ${a}.next_reading_at > now() + interval '2 days')`;

/** Both in the order of an index, which a condition with `or` could not use. Many may have to wait for others of their users. */
const FIRST_DUE = ['<= now()', `> now() + interval '2 days'`]
  .map(
    (when) =>
      `(select id from webhook_service.accounts where next_reading_at ${when} order by next_reading_at limit 10000)`,
  )
  .join(' union all ');

/** An account that is being read becomes due again if its reader has died. Two processes never claim the same one. */
const CLAIM = statement('claim_accounts')`
  update webhook_service.accounts a
  set reading_id = gen_random_uuid(), next_reading_at = now() + ${HELD}
  from (
    select id from webhook_service.accounts d
    where d.id = any(array(${FIRST_DUE})) and ${isDue('d')}
      and (
        select count(*) from webhook_service.accounts o
        where o.user_id = d.user_id and (
          (o.reading_id is not null and not ${isDue('o')})
          or (${isDue('o')} and (o.next_reading_at, o.id) < (d.next_reading_at, d.id))
        )
      ) < $2
    order by d.next_reading_at limit $1 for update skip locked
  ) as due
  where a.id = due.id
  returning a.id, a.reading_id as "readingId", a.provider, a.handle`;

/** Stages a page only while the account is held, and extends the hold. A follower on two pages counts once. */
const STAGE = `
  with held as (
    update webhook_service.accounts set next_reading_at = now() + ${HELD} where id = $1 and reading_id = $2
    returning id, reading_id
  ), staged as (
    insert into webhook_service.staged_followers (account_id, reading_id, follower_id, username, display_name)
    select held.id, held.reading_id, f.* from held, unnest($3::text[], $4::text[], $5::text[]) as f
    on conflict do nothing
  )
  select id from held`;

/** At most 5,000. Keeps the rows of the current holder, because this process may have lost the account without noticing. */
const CLEAR_STALE = `
  delete from webhook_service.staged_followers where ctid = any(array(
    select ctid from webhook_service.staged_followers
    where account_id = $1
      and reading_id is distinct from (select reading_id from webhook_service.accounts where id = $1)
    limit 5000))`;

const RELEASE = `
  update webhook_service.accounts set reading_id = null, next_reading_at = now() where id = $1 and reading_id = $2`;

const FAIL = `
  update webhook_service.accounts
  set reading_id = null, last_error = $3,
    next_reading_at = now() + greatest(make_interval(secs => interval_seconds), make_interval(secs => $4))
  where id = $1 and reading_id = $2`;

/** Stores which process reads which account. The state is in rows, so any process may die at any time. */
@Injectable()
export class FollowerReadingsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly followers: FollowersRepository,
    private readonly statements: StatementsService,
  ) {}

  /** Claims up to `limit` due accounts of users with fewer than `perUser` held, and holds each for 3 minutes. */
  claim(limit: number, perUser = MOST_OF_A_USER): Promise<Reading[]> {
    return this.statements.run<Reading & Record<string, unknown>>(CLAIM, [limit, perUser]);
  }

  /** Deletes the rows that earlier readings of the account have left staged. */
  async begin(reading: Reading): Promise<void> {
    const clearPage = async () => (await this.dataSource.query<[unknown, number]>(CLEAR_STALE, [reading.id]))[1];
    while ((await clearPage()) > 0);
  }

  /** Stages a page of followers and holds the account for another 3 minutes. */
  async stage(reading: Reading, followers: readonly Follower[]): Promise<void> {
    const values = [reading.id, reading.readingId, ...columnsOf(followers)];
    const held = await this.dataSource.query<unknown[]>(STAGE, values);
    if (held.length === 0) throw new ReadingAbandoned();
  }

  /** Ends a reading. Runs `settle` and sets the time of the next reading in one transaction. */
  async finish(reading: Reading, settle: (manager: EntityManager, account: Account) => Promise<void>): Promise<void> {
    const { id, readingId } = reading;
    await this.dataSource.transaction(async (manager) => {
      const account = await manager.findOne(Account, { where: { id, readingId }, lock: { mode: 'pessimistic_write' } });
      if (!account) throw new ReadingAbandoned();
      await settle(manager, account);
      await this.followers.clear(manager, id, readingId);
      const nextReadingAt = () => 'clock_timestamp() + make_interval(secs => interval_seconds)';
      await manager.update(Account, { id }, { readingId: null, nextReadingAt });
    });
  }

  /** Records what the next reading must confirm, in the transaction that ends a reading. */
  async suspect(manager: EntityManager, id: string, suspicion: string): Promise<void> {
    const lastError = `The last reading ${suspicion} followers: it counts when the next one confirms it.`;
    await manager.update(Account, { id }, { suspicion, lastError });
  }

  /** Ends a failed reading. The next one starts after the account's interval, but not before `waitMs`. */
  async fail({ id, readingId }: Reading, lastError: string, waitMs: number): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const [, held] = await manager.query<[unknown, number]>(FAIL, [id, readingId, lastError, waitMs / 1000]);
      if (held > 0) await this.followers.clear(manager, id, readingId);
    });
  }

  /** Deletes the next page of what disconnected accounts have left. Returns false when there is nothing to do for this process. */
  deletePage(): Promise<boolean> {
    return this.dataSource.transaction((manager) => this.followers.deletePage(manager));
  }

  /** Releases the account. It is due immediately, for any process. */
  async release({ id, readingId }: Reading): Promise<void> {
    await this.dataSource.query(RELEASE, [id, readingId]);
  }
}
