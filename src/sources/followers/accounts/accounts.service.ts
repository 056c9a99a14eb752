import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, IsNull, Repository } from 'typeorm';
import type { FieldError } from 'webhook-notification/catalogue';
import { Config } from '../../../infrastructure/config/config';
import { ClockService } from '../../../infrastructure/database/clock.service';
import { AddressPolicy } from '../../../infrastructure/destinations/address';
import { validateUrl } from '../../../infrastructure/destinations/url';
import { ApiError, invalid, MESSAGES } from '../../../infrastructure/errors/api-error';
import type { RequestRules } from '../../../infrastructure/validation/api-request.decorator';
import type { PageRequest, Page } from '../../../infrastructure/pagination/page';
import { newestFirst } from '../../../infrastructure/pagination/newest-first.query';
import { validateHandle, type Provider } from '../account-handle';
import { Account } from '../account.entity';
import type { CreateAccountDto } from './dto/account.dto';
import type { Follower } from '../follower';
import { type FollowersChange, FollowerChangesService } from '../readings/follower-changes.service';

const MAX_ACCOUNTS_PER_USER = 20;

@Injectable()
export class AccountsService implements RequestRules {
  constructor(
    @InjectRepository(Account) private readonly accounts: Repository<Account>,
    private readonly config: Config,
    private readonly policy: AddressPolicy,
    private readonly clock: ClockService,
    private readonly changes: FollowerChangesService,
  ) {}

  /** Connects an account, which `errorsOf` has validated. It is due immediately, unless it is a push account. */
  async create(
    userId: string,
    { provider, handle: wanted, intervalSeconds = 300 }: CreateAccountDto,
  ): Promise<Account> {
    const verdict = validateHandle(provider, wanted);
    if (!verdict.ok) throw invalid('handle', verdict.reason);
    const { handle } = verdict;
    const { id, at } = this.clock.newId();
    return this.accounts.manager.transaction(async (manager) => {
      await this.refuseTooMany(manager, userId);
      const nextReadingAt = provider === 'push' ? null : at;
      await manager.insert(Account, { id, userId, provider, handle, intervalSeconds, nextReadingAt, createdAt: at });
      return manager.findOneByOrFail(Account, { id });
    });
  }

  async list(userId: string, page: PageRequest): Promise<Page<Account>> {
    const query = this.accounts.createQueryBuilder('a').where('a.userId = :userId', { userId });
    return newestFirst(query, page, [userId, 'accounts', {}]);
  }

  async read(userId: string, id: string): Promise<Account> {
    return found(await this.accounts.findOneBy({ userId, id }));
  }

  /** Disconnects an account: its followers are deleted in the background, without publishing events. */
  async remove(userId: string, id: string): Promise<void> {
    const { affected } = await this.accounts.update(
      { userId, id, deletedAt: IsNull() },
      { deletedAt: () => 'now()', readingId: null, nextReadingAt: null },
    );
    if (!affected) throw new ApiError('not_found', MESSAGES.accountNotFound);
  }

  /** Stores the whole list of a push account and publishes the changes. Concurrent calls wait for each other. */
  async putFollowers(userId: string, id: string, followers: readonly Follower[]): Promise<FollowersChange> {
    return this.accounts.manager.transaction(async (manager) => {
      const account = found(
        await manager.findOne(Account, { where: { userId, id }, lock: { mode: 'pessimistic_write' } }),
      );
      if (account.provider !== 'push') throw new ApiError('not_a_push_account', MESSAGES.notAPushAccount);
      return this.changes.replace(manager, account, randomUUID(), followers);
    });
  }

  /** Validates the handle of a new account, which depends on its provider. */
  errorsOf({ provider, handle }: { provider?: Provider; handle?: string }): FieldError[] {
    if (provider === undefined || handle === undefined) return [];
    const verdict = validateHandle(provider, handle);
    if (!verdict.ok) return [{ field: 'handle', code: 'invalid', message: verdict.reason }];
    const server = verdict.url === undefined ? null : validateUrl(verdict.url, this.policy, this.config);
    if (server?.ok !== false) return [];
    return [{ field: 'handle', code: server.code, message: server.reason.replace(/^url/, 'the server of handle') }];
  }

  /** Holds a lock per user until the transaction ends, so that concurrent creates count each other's rows. */
  private async refuseTooMany(manager: EntityManager, userId: string): Promise<void> {
    await manager.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`accounts of ${userId}`]);
    if ((await manager.countBy(Account, { userId })) >= MAX_ACCOUNTS_PER_USER)
      throw new ApiError('account_limit_reached', MESSAGES.tooManyAccounts);
  }
}

function found(account: Account | null): Account {
  if (!account) throw new ApiError('not_found', MESSAGES.accountNotFound);
  return account;
}
