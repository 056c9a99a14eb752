import { Injectable } from '@nestjs/common';
import type { Principal } from '../access-token';
import { RateLimitsService } from '../limits/rate-limits.service';
import { AuthenticationService } from './authentication.service';
import { bearerTokenOf, type Incoming, senderOf, unauthenticated } from './credentials';

/** Authenticates requests outside Nest's guards. */
@Injectable()
export class RequestPrincipalService {
  constructor(
    private readonly authentication: AuthenticationService,
    private readonly limits: RateLimitsService,
  ) {}

  /**
   * Returns the principal of the request's bearer token. Counts a request without a live token as a failure of its address.
   * @throws ApiError 401 without a live token, 429 after too many failures, 503 when a JWT needs a key that cannot be fetched
   */
  async authenticate(request: Incoming): Promise<Principal> {
    const token = bearerTokenOf(request);
    const principal = token ? await this.authentication.authenticate(token) : null;
    if (principal) return principal;
    this.limits.count('failure', senderOf(request));
    throw unauthenticated();
  }
}
