import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { ClockService } from '../../plumbing/database/clock.service';
import { Turns } from '../../plumbing/database/turns';
import { ApiError } from '../../plumbing/errors/api-error';
import { isForeignKeyViolation } from '../../plumbing/errors/database-error';
import { MESSAGES } from '../../plumbing/errors/messages';
import { formatToken, hashToken, type Principal } from '../access-token';
import { AuthenticationService } from '../bearer/authentication.service';
import { type Incoming, senderOf, unauthenticated } from '../bearer/credentials';
import { RateLimitsService } from '../limits/rate-limits.service';
import { AccessToken } from '../tokens/access-token.entity';
import { hashCode, type LinkGrant, madeWith, type MadeWith, sessionOf } from './console-link';
import { ConsoleLinksRepository } from './console-links.repository';

const NAME = 'console';

/** A session that has just begun. */
export interface ConsoleSession {
  row: AccessToken;
  /** In the clear, only here. */
  token: string;
}

/** Begins and ends sessions at the console: short-lived tokens that a browser keeps. */
@Injectable()
export class ConsoleSessionsService {
  /** Who tries many codes at once takes one database connection. */
  private readonly turns = new Turns(1);

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly links: ConsoleLinksRepository,
    private readonly authentication: AuthenticationService,
    private readonly limits: RateLimitsService,
    private readonly clock: ClockService,
  ) {}

  /**
   * Begins a session: for the code of a link, otherwise of the token `user`. The 21st session of a user ends the oldest.
   * @throws ApiError as `beginByCode` and `beginByToken`
   */
  begin(code: string | undefined, user: Principal, request: Incoming): Promise<ConsoleSession> {
    return code === undefined ? this.beginByToken(user) : this.beginByCode(code, request);
  }

  /**
   * Ends the session that asks, with everything that was made with it.
   * @returns its id
   * @throws ApiError 409 when the token is not a session
   */
  async end({ tokenId }: Principal): Promise<string> {
    if (tokenId === null || !(await this.links.end(tokenId))) throw new ApiError(409, MESSAGES.notASession);
    this.authentication.forget();
    return tokenId;
  }

  /**
   * Exchanges a code for a session.
   * @throws ApiError 401 for a code that was used, has expired or is unknown, or whose maker is gone; 429 for too many of
   *   them from the address of `request`
   */
  private async beginByCode(code: string, request: Incoming): Promise<ConsoleSession> {
    const sender = senderOf(request);
    const end = await this.turns.take(sender);
    const session = await this.store((manager) => this.links.take(manager, hashCode(code))).finally(end);
    if (session) return session;
    this.limits.count('failure', sender);
    throw unauthenticated(MESSAGES.badCode);
  }

  /**
   * Makes a session of a token, which ends with it. A session makes none: it would outlive its own sign-out.
   * @throws ApiError 409 for a session; 401 for a token that was revoked, or has expired, this moment
   */
  private async beginByToken(user: Principal): Promise<ConsoleSession> {
    const grant = sessionOf(user, this.clock.now());
    if (grant.expiresAt <= this.clock.now()) throw unauthenticated();
    const session = await this.store(async (manager) => {
      const isSession = user.tokenId === null ? false : await this.links.hold(manager, user.tokenId);
      if (isSession) throw new ApiError(409, MESSAGES.sessionOfSession);
      return isSession === null ? null : { ...grant, ...madeWith(user, this.authentication.bootstrapHash) };
    });
    if (!session) throw unauthenticated();
    return session;
  }

  /** Stores the session that is granted in the same transaction. Null: none is. */
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
        // The token that made the link was revoked this moment.
        if (isForeignKeyViolation(error)) return null;
        throw error;
      });
    if (ended > 0) this.authentication.forget();
    return row && { row, token };
  }

  private rowOf({ userId, scopes, expiresAt, tokenId, bootstrapHash }: LinkGrant & MadeWith) {
    const { id, at } = this.clock.birth();
    return {
      ...{ id, userId, name: NAME, scopes: [...scopes], expiresAt, createdAt: at, lastUsedAt: null },
      ...{ parentId: tokenId, isSession: true, bootstrapHash },
    };
  }
}
