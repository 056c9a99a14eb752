import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Config } from '../config/config';
import { ClockService } from '../database/clock.service';
import { StatementsService } from '../database/statements.service';
import { formatToken, hashToken, isAccessToken, isSameToken, type Principal } from './access-token';
import { AccessToken } from './access-token.entity';
import { ALL_SCOPES, type Scope } from './scope';

export interface NewToken {
  userId: string;
  name: string;
  scopes: Scope[];
  expiresAt: Date | null;
}

/** Finds a live token and notes, at most once a minute, that it was used. */
const USE_TOKEN = {
  name: 'use_token',
  text: `
    with live as (
      select id, user_id, scopes, expires_at, last_used_at from webhook_service.access_tokens
      where token_hash = $1 and (expires_at is null or expires_at > now())
    ), used as (
      update webhook_service.access_tokens t set last_used_at = now() from live
      where t.id = live.id and (live.last_used_at is null or live.last_used_at < now() - interval '1 minute')
    )
    select user_id as "userId", scopes, expires_at as "expiresAt" from live`,
};

@Injectable()
export class AccessTokensService {
  constructor(
    @InjectRepository(AccessToken) private readonly tokens: Repository<AccessToken>,
    private readonly statements: StatementsService,
    private readonly clock: ClockService,
    private readonly config: Config,
  ) {}

  /** Makes a token and answers it in the clear, this once. */
  async create(wanted: NewToken): Promise<string> {
    const token = formatToken(randomBytes(32));
    const { id, at } = this.clock.birth();
    await this.tokens.insert({ id, ...wanted, tokenHash: hashToken(token), createdAt: at });
    return token;
  }

  /** Whose live token is this? Null when it is malformed, unknown, expired or revoked. */
  async authenticate(token: string): Promise<Principal | null> {
    if (!isAccessToken(token)) return null;
    const { bootstrapToken } = this.config;
    if (bootstrapToken !== null && isSameToken(token, bootstrapToken)) {
      return { userId: 'admin', scopes: ALL_SCOPES, expiresAt: null };
    }
    const [principal] = await this.statements.run<Principal & Record<string, unknown>>(USE_TOKEN, [hashToken(token)]);
    return principal ?? null;
  }
}
