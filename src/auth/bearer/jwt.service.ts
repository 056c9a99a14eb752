import { Injectable } from '@nestjs/common';
import { errors, jwtVerify } from 'jose';
import { Config } from '../../plumbing/config/config';
import { ClockService } from '../../plumbing/database/clock.service';
import type { Principal } from '../access-token';
import { JwksClient } from './jwks.client';
import { principalOf } from './jwt-principal';

const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;
/** Only asymmetric algorithms: a key that checks a signature must not be able to make one. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
const CLOCK_TOLERANCE_S = 5;

/** Accepts JWTs of the identity provider in the settings. Without one it accepts none. */
@Injectable()
export class JwtService {
  private readonly jwks: JwksClient | null;

  constructor(
    private readonly config: Config,
    private readonly clock: ClockService,
  ) {
    this.jwks = config.authJwksUrl === null ? null : new JwksClient(config.authJwksUrl);
  }

  /**
   * The principal of a JWT; null when the text is no JWT, or a JWT that is not accepted.
   * @throws ApiError 503 when the provider's keys are not known and cannot be fetched
   */
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
