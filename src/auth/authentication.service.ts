import { Injectable } from '@nestjs/common';
import { Config } from '../config/config';
import { StatementsService } from '../database/statements.service';
import { ADMIN, hashToken, isAccessToken, isSameToken, type Principal } from './access-token';
import { JwtService } from './jwt.service';
import { ALL_SCOPES } from './scope';

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
    select id as "tokenId", user_id as "userId", scopes, expires_at as "expiresAt" from live`,
};

/** Who presents this token? Every request asks PostgreSQL, so that a revocation holds everywhere at once. */
@Injectable()
export class AuthenticationService {
  constructor(
    private readonly statements: StatementsService,
    private readonly jwts: JwtService,
    private readonly config: Config,
  ) {}

  /** Null when the token is malformed, unknown, expired or revoked. */
  async authenticate(token: string): Promise<Principal | null> {
    if (!isAccessToken(token)) return this.jwts.authenticate(token);
    const { bootstrapToken } = this.config;
    if (bootstrapToken !== null && isSameToken(token, bootstrapToken)) {
      return { tokenId: null, userId: ADMIN, scopes: ALL_SCOPES, expiresAt: null };
    }
    const [principal] = await this.statements.run<Principal & Record<string, unknown>>(USE_TOKEN, [hashToken(token)]);
    return principal ?? null;
  }
}
