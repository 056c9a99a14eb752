import { randomBytes } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import { ClockService } from '../../plumbing/database/clock.service';
import { isForeignKeyViolation } from '../../plumbing/errors/database-error';
import { ADMIN, hashToken, type Principal } from '../access-token';
import { unauthenticated } from '../bearer/credentials';
import { CODE_LIVES_MS, grantBy, grantOf, hashCode, linkUrl, madeWith } from './console-link';
import type { LinkGrant, LinkOptions, MadeWith } from './console-link';
import { ConsoleLinksRepository } from './console-links.repository';

/** A link that signs a browser in, once. */
export interface ConsoleLink {
  /** A path of this service with the code in its fragment. */
  url: string;
  /** When the code ends. */
  codeExpiresAt: Date;
  /** When the session ends that it begins. */
  expiresAt: Date;
}

/** Makes links that sign a user in at the console. */
@Injectable()
export class ConsoleLinksService implements OnApplicationBootstrap {
  private readonly bootstrapHash: Buffer | null;

  constructor(
    private readonly config: Config,
    private readonly links: ConsoleLinksRepository,
    private readonly clock: ClockService,
  ) {
    const { bootstrapToken } = config;
    this.bootstrapHash = bootstrapToken === null ? null : hashToken(bootstrapToken);
  }

  /** Sessions of the bootstrap token end when that setting changes. A worker need not know the setting. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.config.role !== 'worker') await this.links.endOthers(this.bootstrapHash);
  }

  /** A link for a user, made by the application itself: it ends with no token. */
  create(userId: string, options: LinkOptions = {}): Promise<ConsoleLink> {
    const grant = grantOf(userId, options, this.clock.now());
    return this.store(grant, { tokenId: null, bootstrapHash: null }, options.path);
  }

  /** A link for the user of the bootstrap token, with all that the token may do. */
  createForAdmin(scopes: LinkOptions['scopes']): Promise<ConsoleLink> {
    const grant = grantOf(ADMIN, { scopes }, this.clock.now());
    return this.store(grant, { tokenId: null, bootstrapHash: this.bootstrapHash });
  }

  /**
   * A link that `maker` makes, and that ends with the maker's token.
   * @throws ApiError as `grantBy`; 401 when the maker's token was revoked meanwhile
   */
  async createBy(maker: Principal, userId: string, options: LinkOptions): Promise<ConsoleLink> {
    const grant = grantBy(maker, userId, options, this.clock.now());
    return this.store(grant, madeWith(maker, this.bootstrapHash), options.path).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? unauthenticated() : error;
    });
  }

  private async store(grant: LinkGrant, made: MadeWith, path = '/console'): Promise<ConsoleLink> {
    const code = randomBytes(32).toString('base64url');
    const codeExpiresAt = await this.links.insert(hashCode(code), grant, made, CODE_LIVES_MS);
    return { url: linkUrl(path, code), codeExpiresAt, expiresAt: grant.expiresAt };
  }
}
