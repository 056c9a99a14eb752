import { timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import { Batcher } from '../../infrastructure/concurrency/batcher';
import { StatementsService, statement } from '../../infrastructure/database/statements.service';
import { ADMIN, ALL_SCOPES, hashToken, isAccessToken, type Principal } from '../access-token';
import { isLive } from '../live-token';
import { ErasingUsersService } from '../erasing-users.service';
import { RateLimitsService } from '../limits/rate-limits.service';
import { bearerTokenOf, type Incoming, senderOf, unauthenticated } from './credentials';
import { JwtService } from './jwt.service';

const WINDOW_MS = 100;
/** Requests per token and window that are looked up before the cached principal is used. */
const LOOKED_UP_FIRST = 5;

interface Recent {
  principal: Principal;
  presented: number;
}

/**
 * Caches the principals of tokens that are used repeatedly within 100 ms. The token of a busy client is then looked up
 * about 50 times a second instead of at every request.
 */
export class RecentPrincipals {
  private readonly recent = new Map<string, Recent>();
  private windowBeganAt = -Infinity;
  private forgotten = 0;

  /** @param now a monotonic clock in ms */
  constructor(private readonly now: () => number) {}

  /** Returns the cached principal of the token with this unique key; null if the token must be looked up. */
  find(key: string): Principal | null {
    if (this.now() - this.windowBeganAt >= WINDOW_MS) {
      this.recent.clear();
      this.windowBeganAt = this.now();
    }
    const found = this.recent.get(key);
    if (!found) return null;
    found.presented += 1;
    return found.presented > LOOKED_UP_FIRST ? found.principal : null;
  }

  /** Begins a lookup. The returned function caches its result, unless a token was revoked in the meantime. */
  lookingUp(): (key: string, principal: Principal) => void {
    const { forgotten } = this;
    return (key, principal) => {
      if (forgotten !== this.forgotten) return;
      const presented = this.recent.get(key)?.presented ?? 1;
      this.recent.set(key, { principal, presented });
    };
  }

  /** Clears the cache and discards the results of pending lookups, because a token was revoked. */
  forget(): void {
    this.forgotten += 1;
    this.recent.clear();
  }
}

const MAX_BATCH = 200;

/** Finds live tokens, and records at most once a minute that a token was used. */
const USE_TOKENS = statement('use_tokens')`
    with live as (
      select id, token_hash, user_id, scopes, expires_at, last_used_at
      from webhook_service.access_tokens t
      where token_hash = any($1::bytea[]) and ${isLive('t')}
    ), unnoted as (
      -- Skip rows that another process has locked; it updates them.
      select id from webhook_service.access_tokens t
      where id in (
        select id from live where last_used_at is null or last_used_at < now() - interval '1 minute'
      ) for update skip locked
    ), used as (
      update webhook_service.access_tokens t set last_used_at = now() from unnoted where t.id = unnoted.id
    )
    select token_hash as "tokenHash", id as "tokenId", user_id as "userId", scopes, expires_at as "expiresAt" from live`;

/**
 * Finds the principal of a token. Queries PostgreSQL, so a revocation takes effect everywhere at once; for a token in
 * constant use, within 100 ms. Tokens that arrive during a query are looked up together.
 */
@Injectable()
export class AuthenticationService {
  private readonly questions = new Batcher<Buffer, Principal | null>((hashes) => this.findAll(hashes), MAX_BATCH, 2);
  private readonly recent = new RecentPrincipals(() => performance.now());
  /** SHA-256 of BOOTSTRAP_TOKEN; null if it is not set. */
  readonly bootstrapHash: Buffer | null;

  constructor(
    private readonly statements: StatementsService,
    private readonly jwts: JwtService,
    private readonly erasing: ErasingUsersService,
    private readonly limits: RateLimitsService,
    { bootstrapToken }: Config,
  ) {
    this.bootstrapHash = bootstrapToken === null ? null : hashToken(bootstrapToken);
  }

  /**
   * Returns the principal of a token; null if the token is malformed, unknown, expired or revoked, or its user is being erased.
   * @throws ApiError 503 when a JWT needs a key that cannot be fetched
   */
  async authenticate(token: string): Promise<Principal | null> {
    const principal = await this.principalOf(token);
    return principal && this.erasing.includes(principal.userId) ? null : principal;
  }

  /**
   * Authenticates a request outside Nest's guards. Without a live token, counts a failure of its address.
   * @throws ApiError 401 without a live token, 429 after too many failures, 503 as `authenticate`
   */
  async authenticateRequest(request: Incoming): Promise<Principal> {
    const token = bearerTokenOf(request);
    const principal = token ? await this.authenticate(token) : null;
    if (principal) return principal;
    this.limits.count('failure', senderOf(request));
    throw unauthenticated();
  }

  private async principalOf(token: string): Promise<Principal | null> {
    if (!isAccessToken(token)) return this.jwts.authenticate(token);
    const hash = hashToken(token);
    if (this.bootstrapHash && timingSafeEqual(hash, this.bootstrapHash))
      return { tokenId: null, userId: ADMIN, scopes: ALL_SCOPES, expiresAt: null };
    return this.recent.find(hash.toString('hex')) ?? this.questions.add(hash);
  }

  forget(): void {
    this.recent.forget();
  }

  private async findAll(hashes: readonly Buffer[]): Promise<(Principal | null)[]> {
    const different = new Map(hashes.map((hash) => [hash.toString('hex'), hash]));
    const found = new Map<string, Principal>();
    const remember = this.recent.lookingUp();
    const rows = await this.statements.run<Principal & { tokenHash: Buffer }>(USE_TOKENS, [[...different.values()]]);
    for (const { tokenHash, ...principal } of rows) {
      const key = tokenHash.toString('hex');
      found.set(key, principal);
      remember(key, principal);
    }
    return hashes.map((hash) => found.get(hash.toString('hex')) ?? null);
  }
}
