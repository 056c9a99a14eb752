import { Injectable } from '@nestjs/common';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { isUserId } from 'webhook-notification/catalogue';
import { Config } from '../../infrastructure/config/config';
import { isExempt } from '../../infrastructure/destinations/egress-proxy';
import { ClockService } from '../../infrastructure/database/clock.service';
import { ADMIN, isScope, type Principal } from '../access-token';
import { JwksClient } from './jwks.client';

/** The first second of the year 10000. */
const END_OF_TIME_S = Date.UTC(10_000, 0) / 1000;

/**
 * Returns the principal of a verified JWT. `sub` is the user; `scope` (RFC 8693, section 4.2) is a space-separated list
 * of scopes. Unknown scopes and a `scope` of another type are ignored. Null if `sub` is not a valid user id or is
 * `admin`, or if the expiry is not a valid time.
 */
export function principalOf({ sub, scope, exp }: JWTPayload): Principal | null {
  if (typeof sub !== 'string' || !isUserId(sub) || sub === ADMIN) return null;
  if (exp === undefined || !(exp >= 0 && exp < END_OF_TIME_S)) return null;
  const named = typeof scope === 'string' ? scope.split(' ') : [];
  return { tokenId: null, userId: sub, scopes: [...new Set(named)].filter(isScope), expiresAt: new Date(exp * 1000) };
}

const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** Only asymmetric algorithms: a key that verifies signatures must not be able to create them. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
const CLOCK_TOLERANCE_S = 5;

@Injectable()
export class JwtService {
  private readonly jwks: JwksClient | null;

  constructor(
    private readonly config: Config,
    private readonly clock: ClockService,
  ) {
    const { authJwksUrl: url, egressCaFile, egressProxy, noProxy } = config;
    const proxy = url !== null && isExempt(url, noProxy) ? null : egressProxy;
    this.jwks = url === null ? null : new JwksClient(url, undefined, egressCaFile, proxy);
  }

  /** Returns the principal of a JWT of the provider; otherwise null. Throws as `JwksClient.keyFor`. */
  async authenticate(token: string): Promise<Principal | null> {
    if (this.jwks === null || !COMPACT_JWS.test(token)) return null;
    const { authIssuer, authAudience } = this.config;
    try {
      const { payload } = await jwtVerify(token, this.jwks.keyFor, {
        issuer: authIssuer ?? [],
        audience: authAudience ?? [],
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'sub'],
        clockTolerance: CLOCK_TOLERANCE_S,
        currentDate: this.clock.now(),
      });
      return principalOf(payload);
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }
}
