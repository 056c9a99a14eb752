import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ClockService } from '../../infrastructure/database/clock.service';
import { KeyedMutex } from '../../infrastructure/concurrency/keyed-mutex';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { isForeignKeyViolation } from '../../infrastructure/errors/database-error';
import { formatToken, hashToken, type Principal } from '../../auth/access-token';
import { AuthenticationService } from '../../auth/bearer/authentication.service';
import { type Incoming, senderOf, unauthenticated } from '../../auth/bearer/credentials';
import { RateLimitsService } from '../../auth/limits/rate-limits.service';
import { AccessToken } from '../../auth/tokens/access-token.entity';
import { hashCode, type LinkGrant, madeWith, type MadeWith, sessionOf } from './console-link';
import { ConsoleLinksRepository } from './console-links.repository';

const NAME = 'console';

export interface ConsoleSession {
  row: AccessToken;
  /** The token in plaintext, available only here. */
  token: string;
}

@Injectable()
export class ConsoleSessionsService {
  /** Limits a client that tries many codes at once to one database connection. */
  private readonly mutex = new KeyedMutex(1);

  constructor(
    private readonly dataSource: DataSource,
    private readonly links: ConsoleLinksRepository,
    private readonly authentication: AuthenticationService,
    private readonly limits: RateLimitsService,
    private readonly clock: ClockService,
  ) {}

  /** Creates a session for the code of a link, or without one for the token of `user`. The 21st of a user ends the oldest. */
  begin(code: string | undefined, user: Principal, request: Incoming): Promise<ConsoleSession> {
    return code === undefined ? this.beginByToken(user) : this.beginByCode(code, request);
  }

  /** Ends the current session and revokes everything created with it. Returns its id; 409 when the token is not a session. */
  async end({ tokenId }: Principal): Promise<string> {
    if (tokenId === null || !(await this.links.end(tokenId))) throw new ApiError('not_a_session', MESSAGES.notASession);
    this.authentication.forget();
    return tokenId;
  }

  /**
   * Exchanges a code for a session.
   * @throws ApiError 401 for a code that is unknown, expired or already used, or whose issuing token was revoked; 429
   *   for too many of them from the address of `request`
   */
  private async beginByCode(code: string, request: Incoming): Promise<ConsoleSession> {
    const sender = senderOf(request);
    const end = await this.mutex.acquire(sender);
    const session = await this.store((manager) => this.links.take(manager, hashCode(code))).finally(end);
    if (session) return session;
    this.limits.count('failure', sender);
    throw unauthenticated('link_invalid', MESSAGES.badCode);
  }

  /**
   * Creates a session for a token and revokes it with that token. A session cannot create another one, which would
   * outlive its own sign-out.
   */
  private async beginByToken(user: Principal): Promise<ConsoleSession> {
    const grant = sessionOf(user, this.clock.now());
    if (grant.expiresAt <= this.clock.now()) throw unauthenticated();
    const session = await this.store(async (manager) => {
      const isSession = user.tokenId === null ? false : await this.links.hold(manager, user.tokenId);
      if (isSession) throw new ApiError('session_of_session', MESSAGES.sessionOfSession);
      return isSession === null ? null : { ...grant, ...madeWith(user, this.authentication.bootstrapHash) };
    });
    if (!session) throw unauthenticated();
    return session;
  }

  private async store(
    granted: (manager: EntityManager) => Promise<(LinkGrant & MadeWith) | null>,
  ): Promise<ConsoleSession | null> {
    let ended = 0;
    const token = formatToken(randomBytes(32));
    const row = await this.dataSource
      .transaction(async (manager) => {
        const grant = await granted(manager);
        if (!grant) return null;
        ended = await this.links.makeRoom(manager, grant.userId);
        const stored = manager.create(AccessToken, { ...this.rowOf(grant), tokenHash: hashToken(token) });
        await manager.insert(AccessToken, stored);
        return stored;
      })
      .catch((error: unknown) => {
        // The token that created the link was revoked in the meantime.
        if (isForeignKeyViolation(error)) return null;
        throw error;
      });
    if (ended > 0) this.authentication.forget();
    return row && { row, token };
  }

  private rowOf({ userId, scopes, expiresAt, tokenId, bootstrapHash }: LinkGrant & MadeWith) {
    const { id, at } = this.clock.newId();
    return {
      ...{ id, userId, name: NAME, scopes: [...scopes], expiresAt, createdAt: at, lastUsedAt: null },
      ...{ parentId: tokenId, isSession: true, bootstrapHash },
    };
  }
}
