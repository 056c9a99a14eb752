import { randomBytes } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { ClockService } from '../../infrastructure/database/clock.service';
import { StatementsService } from '../../infrastructure/database/statements.service';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { isForeignKeyViolation } from '../../infrastructure/errors/database-error';
import { newestFirst } from '../../infrastructure/pagination/newest-first.query';
import type { Page } from '../../infrastructure/pagination/page';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { ADMIN, formatToken, hashToken, type Principal } from '../access-token';
import { isLive, isRevoked } from '../live-token';
import { AccessToken } from './access-token.entity';
import { AuthenticationService } from '../bearer/authentication.service';
import { ErasingUsersService } from '../erasing-users.service';
import type { CreateTokenDto, ListTokensDto } from './dto/token.dto';
import { validateGrant, requireManager } from './token-grant';
import { unauthenticated } from '../bearer/credentials';

const MAX_LIVE_TOKENS = 100;
const IS_LIVE = isLive('t');

/**
 * Keeps the newest expired tokens: if PostgreSQL's clock was ahead, they are valid again once it is correct. Deletes
 * only tokens without children, because a cascade would lock rows of other users.
 */
const DROP_EXPIRED = `
  delete from webhook_service.access_tokens where id = any(array(
    select id from webhook_service.access_tokens t
    where user_id = $1 and expires_at <= now()
      and not exists (select 1 from webhook_service.access_tokens child where child.parent_id = t.id)
    order by id desc offset ${MAX_LIVE_TOKENS}))`;

const REVOKE = `
  update webhook_service.access_tokens t set revoked_at = now()
  where id = $1 and not ${isRevoked('t')} and ((user_id = $2 and $3) or (user_id not in ($2, '${ADMIN}') and $4))`;

const PAGE = 1000;

const DELETE_REVOKED = `
  delete from webhook_service.access_tokens where id = any(array(
    select id from webhook_service.access_tokens t
    where revoked_at is not null
      and not exists (select 1 from webhook_service.access_tokens child where child.parent_id = t.id)
    order by revoked_at limit ${PAGE} for update skip locked))`;

/** Marks those made with a revoked token, which is deleted when none is left. */
const REVOKE_CHILDREN = `
  update webhook_service.access_tokens set revoked_at = now(), parent_id = null where id = any(array(
    select child.id from (
      select id from webhook_service.access_tokens where revoked_at is not null order by revoked_at
    ) as t cross join lateral (
      select id from webhook_service.access_tokens where parent_id = t.id limit ${PAGE} for no key update skip locked
    ) as child limit ${PAGE}))`;

const DELETE_EVERY_MS = 5000;

type Origin = Pick<AccessToken, 'parentId' | 'bootstrapHash' | 'expiresAt'>;

@Injectable()
export class AccessTokensService {
  constructor(
    @InjectRepository(AccessToken) private readonly tokens: Repository<AccessToken>,
    private readonly clock: ClockService,
    private readonly authentication: AuthenticationService,
    private readonly erasing: ErasingUsersService,
    private readonly statements: StatementsService,
    tasks: WorkerTasksService,
  ) {
    const onFailure = logFirst(new Logger(AccessTokensService.name), 'Deleting revoked tokens');
    tasks.add(new Repeat(() => this.deleteRevoked(), { everyMs: DELETE_EVERY_MS, onFailure }));
  }

  /**
   * Creates a token. Only this method returns it in plaintext, with its row. It is revoked with the token that the
   * grantor is, or, if the grantor is a session, with the credential that the session was created with.
   */
  async create(grantor: Principal, wanted: CreateTokenDto): Promise<{ row: AccessToken; token: string }> {
    const { name, scopes, expiresAt = null, userId = grantor.userId } = wanted;
    const origin = await this.originOf(grantor);
    validateGrant({ ...grantor, expiresAt: origin.expiresAt }, { userId, scopes, expiresAt }, this.clock.now());
    this.erasing.refuse(userId);
    const token = formatToken(randomBytes(32));
    const { id, at } = this.clock.newId();
    const row = { id, userId, name, scopes, expiresAt, createdAt: at, lastUsedAt: null, isSession: false };
    const { parentId, bootstrapHash } = origin;
    const stored = this.tokens.create({ ...row, tokenHash: hashToken(token), parentId, bootstrapHash });
    await this.tokens.manager
      .transaction(async (manager) => {
        await refuseTooMany(manager, userId);
        await manager.insert(AccessToken, stored);
      })
      .catch((error: unknown) => {
        // The grantor's token was revoked in the meantime.
        throw isForeignKeyViolation(error) ? unauthenticated() : error;
      });
    return { row: stored, token };
  }

  private async originOf({ tokenId, expiresAt }: Principal): Promise<Origin> {
    const itself = { parentId: tokenId, bootstrapHash: null, expiresAt };
    if (tokenId === null) return itself;
    const { isSession, parentId, bootstrapHash } = await this.stillValid(tokenId);
    if (!isSession) return itself;
    if (parentId === null) return bootstrapHash ? { parentId, bootstrapHash, expiresAt: null } : itself;
    return { parentId, bootstrapHash: null, expiresAt: (await this.stillValid(parentId)).expiresAt };
  }

  private async stillValid(id: string): Promise<AccessToken> {
    const token = await this.tokens.findOneBy({ id });
    if (!token) throw unauthenticated();
    return token;
  }

  async list(manager: Principal, { userId = manager.userId, ...page }: ListTokensDto): Promise<Page<AccessToken>> {
    requireManager(manager, userId);
    const query = this.tokens.createQueryBuilder('t').where('t.userId = :userId', { userId }).andWhere(IS_LIVE);
    return newestFirst(query, page, [manager.userId, 'tokens', { userId }]);
  }

  /** Ends the token, and all tokens created with it directly or indirectly, at once. They are deleted in the background. */
  async revoke({ userId, scopes }: Principal, id: string): Promise<void> {
    const [own, others] = [scopes.includes('tokens:manage'), scopes.includes('users:manage')];
    const [, revoked] = await this.tokens.query<[unknown, number]>(REVOKE, [id, userId, own, others]);
    if (revoked === 0) throw new ApiError('not_found', MESSAGES.tokenNotFound);
    this.authentication.forget();
    // Few are gone with the answer. A failure leaves all of them to a worker.
    await this.deleteRevoked().catch(() => undefined);
  }

  /** Marks a page of tokens made with revoked ones, and deletes a page of those. Returns 0 when more may follow at once. */
  async deleteRevoked(): Promise<number | void> {
    let found = 0;
    for (const statement of [REVOKE_CHILDREN, DELETE_REVOKED])
      found += Number((await this.statements.runByIndex(statement, []))[1]);
    if (found > 0) return 0;
  }
}

/** Holds a lock per user until the transaction ends, so that concurrent creates count each other's rows. */
async function refuseTooMany(manager: EntityManager, userId: string): Promise<void> {
  await manager.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`tokens of ${userId}`]);
  await manager.query(DROP_EXPIRED, [userId]);
  const live = manager
    .createQueryBuilder(AccessToken, 't')
    .where('t.userId = :userId and not t.isSession', { userId })
    .andWhere(IS_LIVE);
  if ((await live.getCount()) >= MAX_LIVE_TOKENS) throw new ApiError('token_limit_reached', MESSAGES.tooManyTokens);
}
