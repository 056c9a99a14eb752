import { randomBytes } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import { ClockService } from '../../infrastructure/database/clock.service';
import { isForeignKeyViolation } from '../../infrastructure/errors/database-error';
import { ADMIN, ALL_SCOPES, hashToken, type Principal } from '../../auth/access-token';
import { ErasingUsersService } from '../../auth/erasing-users.service';
import { unauthenticated } from '../../auth/bearer/credentials';
import { CODE_LIVES_MS, grantBy, grantOf, hashCode, inBrowser, linkUrl, madeWith } from './console-link';
import type { LinkGrant, LinkOptions, MadeWith } from './console-link';
import { ConsoleLinksRepository } from './console-links.repository';

export interface ConsoleLink {
  url: string;
  codeExpiresAt: Date;
  expiresAt: Date;
}

@Injectable()
export class ConsoleLinksService implements OnApplicationBootstrap {
  private readonly bootstrapHash: Buffer | null;

  constructor(
    private readonly config: Config,
    private readonly links: ConsoleLinksRepository,
    private readonly clock: ClockService,
    private readonly erasing: ErasingUsersService,
  ) {
    const { bootstrapToken } = config;
    this.bootstrapHash = bootstrapToken === null ? null : hashToken(bootstrapToken);
  }

  /** Ends sessions of an earlier bootstrap token. Workers may not know that setting. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.config.role !== 'worker') await this.links.endOthers(this.bootstrapHash);
  }

  /** Creates a link for a user on behalf of the application. Revoking a token never ends its session. */
  create(userId: string, options: LinkOptions = {}): Promise<ConsoleLink> {
    const grant = grantOf(userId, options, this.clock.now());
    return this.store(grant, { tokenId: null, bootstrapHash: null }, options.path);
  }

  /** Creates a link for the user of the bootstrap token, with all scopes that a session may have. */
  createForAdmin(): Promise<ConsoleLink> {
    const grant = grantOf(ADMIN, { scopes: inBrowser(ALL_SCOPES) }, this.clock.now());
    return this.store(grant, { tokenId: null, bootstrapHash: this.bootstrapHash });
  }

  /** Creates a link on behalf of `maker`. It is revoked with the maker's token. */
  async createBy(maker: Principal, userId: string, options: LinkOptions): Promise<ConsoleLink> {
    const grant = grantBy(maker, userId, options, this.clock.now());
    return this.store(grant, madeWith(maker, this.bootstrapHash), options.path).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? unauthenticated() : error;
    });
  }

  private async store(grant: LinkGrant, made: MadeWith, path = '/console'): Promise<ConsoleLink> {
    this.erasing.refuse(grant.userId);
    const code = randomBytes(32).toString('base64url');
    const codeExpiresAt = await this.links.insert(hashCode(code), grant, made, CODE_LIVES_MS);
    return { url: linkUrl(path, code), codeExpiresAt, expiresAt: grant.expiresAt };
  }
}
