import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { Account } from '../account.entity';
import type { Follower } from '../follower';
import { columnsOf, FollowersRepository } from './followers.repository';
import { ReadingAbandoned } from '../reading-failure';

/** An account that this process reads, for as long as it holds it. */
export interface Reading {
  /** Id of the account. */
  id: string;
  readingId: string;
  provider: Account['provider'];
  handle: string;
}

/** How long a reading holds its account after each page; a page takes less, also with the longest deadline. */
const HELD = `interval '3 minutes'`;
/** Accounts of one user that are read at the same time, so that slow servers of one do not hold up the others. */
const PER_USER = 3;

/** An account that is read becomes due again when its reader has died. Two processes never take the same one. */
const CLAIM = `
  update webhook_service.accounts a
  set reading_id = gen_random_uuid(), next_reading_at = now() + ${HELD}
  from (
    select id from webhook_service.accounts d
    where d.next_reading_at <= now()
      and (
        select count(*) from webhook_service.accounts o
        where o.user_id = d.user_id and (
          (o.reading_id is not null and o.next_reading_at > now())
          or (o.next_reading_at <= now() and (o.next_reading_at, o.id) < (d.next_reading_at, d.id))
        )
      ) < ${PER_USER}
    order by d.next_reading_at limit $1 for update skip locked
  ) as due
  where a.id = due.id
  returning a.id, a.reading_id as "readingId", a.provider, a.handle`;

/** A page is staged only while the account is held, and holds it for longer. A follower on two pages counts once. */
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

/** Never what the present holder has staged: who asks may have lost the account long ago without knowing. */
const CLEAR_STALE = `
  delete from webhook_service.staged_followers
  where account_id = $1
    and reading_id is distinct from (select reading_id from webhook_service.accounts where id = $1)`;

const RELEASE = `
  update webhook_service.accounts set reading_id = null, next_reading_at = now() where id = $1 and reading_id = $2`;

const FAIL = `
  update webhook_service.accounts
  set reading_id = null, last_error = $3,
    next_reading_at = now() + greatest(make_interval(secs => interval_seconds), make_interval(secs => $4))
  where id = $1 and reading_id = $2`;

/** Which account is read by whom: rows, so that any process may die at any time. */
@Injectable()
export class FollowerReadingsRepository {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly followers: FollowersRepository,
  ) {}

  /** Takes up to `limit` accounts that are due. */
  async claim(limit: number): Promise<Reading[]> {
    const [readings] = await this.dataSource.query<[Reading[], number]>(CLAIM, [limit]);
    return readings;
  }

  /** Forgets what readings that died have left behind. */
  async begin(reading: Reading): Promise<void> {
    await this.dataSource.query(CLEAR_STALE, [reading.id]);
  }

  /** @throws ReadingAbandoned when the account is no longer held */
  async stage(reading: Reading, followers: readonly Follower[]): Promise<void> {
    const values = [reading.id, reading.readingId, ...columnsOf(followers)];
    const held = await this.dataSource.query<unknown[]>(STAGE, values);
    if (held.length === 0) throw new ReadingAbandoned();
  }

  /**
   * Ends a reading: what `settle` does with the account and the next reading's time are one transaction.
   * @throws ReadingAbandoned when the account is no longer held
   */
  async finish(reading: Reading, settle: (manager: EntityManager, account: Account) => Promise<void>): Promise<void> {
    const { id, readingId } = reading;
    await this.dataSource.transaction(async (manager) => {
      const account = await manager.findOne(Account, { where: { id, readingId }, lock: { mode: 'pessimistic_write' } });
      if (!account) throw new ReadingAbandoned();
      await settle(manager, account);
      await this.followers.clear(manager, id);
      const nextReadingAt = () => 'clock_timestamp() + make_interval(secs => interval_seconds)';
      await manager.update(Account, { id }, { readingId: null, nextReadingAt });
    });
  }

  /** Notes, in the transaction that ends a reading, what the next one has to confirm. */
  async suspect(manager: EntityManager, id: string, suspicion: string): Promise<void> {
    const lastError = `The last reading ${suspicion} followers: it counts when the next one confirms it.`;
    await manager.update(Account, { id }, { suspicion, lastError });
  }

  /** The reading does not count; the next one comes after the interval, and not before `waitMs`. */
  async fail({ id, readingId }: Reading, lastError: string, waitMs: number): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const [, held] = await manager.query<[unknown, number]>(FAIL, [id, readingId, lastError, waitMs / 1000]);
      if (held > 0) await this.followers.clear(manager, id);
    });
  }

  /** Lets another process read the account at once. */
  async release({ id, readingId }: Reading): Promise<void> {
    await this.dataSource.query(RELEASE, [id, readingId]);
  }
}
