import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { Config } from '../../../plumbing/config/config';
import { ClockService } from '../../../plumbing/database/clock.service';
import { AddressPolicy } from '../../../plumbing/destinations/address';
import { judgeUrl } from '../../../plumbing/destinations/url';
import { ApiError } from '../../../plumbing/errors/api-error';
import { MESSAGES } from '../../../plumbing/errors/messages';
import type { PageRequest } from '../../../plumbing/pagination/id-window';
import { newestFirst } from '../../../plumbing/pagination/newest-first.query';
import type { Page } from '../../../plumbing/pagination/page';
import { judgeHandle, type Provider } from '../account-handle';
import { Account } from '../account.entity';
import type { CreateAccountDto } from './dto/create-account.dto';
import type { Follower } from '../follower';
import { type FollowersChange, FollowerChangesService } from '../readings/follower-changes.service';

const MAX_ACCOUNTS_PER_USER = 20;

/** The social accounts of a user: connect, list, read, disconnect, and take a pushed list. */
@Injectable()
export class AccountsService {
  constructor(
    @InjectRepository(Account) private readonly accounts: Repository<Account>,
    private readonly config: Config,
    private readonly policy: AddressPolicy,
    private readonly clock: ClockService,
    private readonly changes: FollowerChangesService,
  ) {}

  /**
   * Connects an account. It is due to be read at once, unless it is a push account.
   * @throws ApiError 400 for a bad handle or a server that is not allowed, 409 when the user has 20 accounts
   */
  async create(
    userId: string,
    { provider, handle: wanted, intervalSeconds = 300 }: CreateAccountDto,
  ): Promise<Account> {
    const handle = this.judge(provider, wanted);
    const { id, at } = this.clock.birth();
    return this.accounts.manager.transaction(async (manager) => {
      await this.refuseTooMany(manager, userId);
      const nextReadingAt = provider === 'push' ? null : at;
      await manager.insert(Account, { id, userId, provider, handle, intervalSeconds, nextReadingAt, createdAt: at });
      return manager.findOneByOrFail(Account, { id });
    });
  }

  /**
   * One page of the user's accounts, newest first.
   * @throws ApiError 400 for a bad cursor
   */
  async list(userId: string, page: PageRequest): Promise<Page<Account>> {
    const query = this.accounts.createQueryBuilder('a').where('a.userId = :userId', { userId });
    return newestFirst(query, page, [userId, 'accounts', {}]);
  }

  /** @throws ApiError 404 when the user has no such account */
  async read(userId: string, id: string): Promise<Account> {
    return found(await this.accounts.findOneBy({ userId, id }));
  }

  /**
   * Disconnects an account: forgets its followers and publishes nothing.
   * @throws ApiError 404 when the user has no such account
   */
  async remove(userId: string, id: string): Promise<void> {
    const { affected } = await this.accounts.delete({ userId, id });
    if (!affected) throw new ApiError(404, MESSAGES.accountNotFound);
  }

  /**
   * Stores the whole list of a push account and publishes what has changed. Concurrent calls wait for each other.
   * @throws ApiError 404 when the user has no such account, 409 when it is not a push account
   */
  async putFollowers(userId: string, id: string, followers: readonly Follower[]): Promise<FollowersChange> {
    return this.accounts.manager.transaction(async (manager) => {
      const account = found(
        await manager.findOne(Account, { where: { userId, id }, lock: { mode: 'pessimistic_write' } }),
      );
      if (account.provider !== 'push') throw new ApiError(409, MESSAGES.notAPushAccount);
      return this.changes.replace(manager, account, randomUUID(), followers);
    });
  }

  private judge(provider: Provider, wanted: string): string {
    const verdict = judgeHandle(provider, wanted);
    if (!verdict.ok) throw new ApiError(400, verdict.reason);
    const server = verdict.url === undefined ? null : judgeUrl(verdict.url, this.policy, this.config);
    if (server?.ok === false) throw new ApiError(400, server.reason.replace(/^url/, 'the server of handle'));
    return verdict.handle;
  }

  /** Holds a lock per user until the transaction ends, so that concurrent creates count each other's rows. */
  private async refuseTooMany(manager: EntityManager, userId: string): Promise<void> {
    await manager.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`accounts of ${userId}`]);
    if ((await manager.countBy(Account, { userId })) >= MAX_ACCOUNTS_PER_USER) {
      throw new ApiError(409, MESSAGES.tooManyAccounts);
    }
  }
}

function found(account: Account | null): Account {
  if (!account) throw new ApiError(404, MESSAGES.accountNotFound);
  return account;
}
