import { Injectable } from '@nestjs/common';
import { errors, jwtVerify } from 'jose';
import { Config } from '../../infrastructure/config/config';
import { isExempt } from '../../infrastructure/destinations/egress-proxy';
import { ClockService } from '../../infrastructure/database/clock.service';
import type { Principal } from '../access-token';
import { JwksClient } from './jwks.client';
import { principalOf } from './jwt-principal';

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
