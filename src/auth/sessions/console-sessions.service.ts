import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { ClockService } from '../../plumbing/database/clock.service';
import { Turns } from '../../plumbing/database/turns';
import { isForeignKeyViolation } from '../../plumbing/errors/database-error';
import { MESSAGES } from '../../plumbing/errors/messages';
import { formatToken, hashToken } from '../access-token';
import { AuthenticationService } from '../bearer/authentication.service';
import { type Incoming, senderOf, unauthenticated } from '../bearer/credentials';
import { RateLimitsService } from '../limits/rate-limits.service';
import { AccessToken } from '../tokens/access-token.entity';
import { hashCode } from './console-link';
import { ConsoleLinksRepository } from './console-links.repository';

const NAME = 'console';

/** A session that has just begun. */
export interface ConsoleSession {
  row: AccessToken;
  /** In the clear, only here. */
  token: string;
}

/** Begins sessions at the console: short-lived tokens that are had for the code of a link. */
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
   * Exchanges a code for a session. The 21st session of a user ends the oldest.
   * @throws ApiError 401 for a code that was used, has expired or is unknown, or whose maker is gone; 429 for too many of
   *   them from the address of `request`
   */
  async begin(code: string, request: Incoming): Promise<ConsoleSession> {
    const sender = senderOf(request);
    const end = await this.turns.take(sender);
    const session = await this.exchange(code).finally(end);
    if (session) return session;
    this.limits.count('failure', sender);
    throw unauthenticated(MESSAGES.badCode);
  }

  private async exchange(code: string): Promise<ConsoleSession | null> {
    let ended = 0;
    const token = formatToken(randomBytes(32));
    const row = await this.dataSource
      .transaction(async (manager) => {
        const link = await this.links.take(manager, hashCode(code));
        if (!link) return null;
        ended = await this.links.makeRoom(manager, link.userId);
        const { id, at } = this.clock.birth();
        const { userId, scopes, expiresAt, tokenId: parentId, bootstrapHash } = link;
        const made = {
          id,
          userId,
          name: NAME,
          scopes: [...scopes],
          expiresAt,
          createdAt: at,
          lastUsedAt: null,
          parentId,
        };
        const stored = manager.create(AccessToken, {
          ...made,
          tokenHash: hashToken(token),
          isSession: true,
          bootstrapHash,
        });
        await manager.insert(AccessToken, stored);
        return stored;
      })
      .catch((error: unknown) => {
        // The maker's token was revoked this moment.
        if (isForeignKeyViolation(error)) return null;
        throw error;
      });
    if (ended > 0) this.authentication.forget();
    return row && { row, token };
  }
}
