import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, In, Not, Repository } from 'typeorm';
import { ClockService } from '../../infrastructure/database/clock.service';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { isForeignKeyViolation } from '../../infrastructure/errors/database-error';
import { newestFirst } from '../../infrastructure/pagination/newest-first.query';
import type { Page } from '../../infrastructure/pagination/page';
import { ADMIN, formatToken, hashToken, type Principal } from '../access-token';
import { AccessToken } from './access-token.entity';
import { AuthenticationService } from '../bearer/authentication.service';
import { ErasingUsersService } from '../erasing-users.service';
import type { CreateTokenDto, ListTokensDto } from './dto/token.dto';
import { validateGrant, requireManager } from './token-grant';
import { unauthenticated } from '../bearer/credentials';

const MAX_LIVE_TOKENS = 100;
const IS_LIVE = '(t.expires_at is null or t.expires_at > now())';

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

type Origin = Pick<AccessToken, 'parentId' | 'bootstrapHash' | 'expiresAt'>;

@Injectable()
export class AccessTokensService {
  constructor(
    @InjectRepository(AccessToken) private readonly tokens: Repository<AccessToken>,
    private readonly clock: ClockService,
    private readonly authentication: AuthenticationService,
    private readonly erasing: ErasingUsersService,
  ) {}

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

  /** Deletes the token and, by a cascading foreign key, all tokens created with it directly or indirectly. */
  async revoke({ userId, scopes }: Principal, id: string): Promise<void> {
    const [own, others] = [scopes.includes('tokens:manage'), scopes.includes('users:manage')];
    const foreign = Not(In([userId, ADMIN]));
    const revocable = [...(own ? [{ id, userId }] : []), ...(others ? [{ id, userId: foreign }] : [])];
    const { affected } = await this.tokens.delete(revocable);
    if (!affected) throw new ApiError('not_found', MESSAGES.tokenNotFound);
    this.authentication.forget();
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
