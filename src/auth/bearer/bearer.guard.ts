import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError, messageFor } from '../../infrastructure/errors/api-error';
import { isApiRoute } from '../../infrastructure/http/route-methods';
import { missingScope, type NeededScopes, type Principal } from '../access-token';
import { authorizationOf, senderOf, unauthenticated } from './credentials';
import {
  type AuthenticatedRequest,
  type LargeBodyRule,
  MANAGEMENT,
  RATE_RULE_KEY,
  type RateRule,
  SCOPES_KEY,
  WITHOUT_TOKEN_KEY,
} from '../route.decorator';
import { RateLimitsService } from '../limits/rate-limits.service';
import { Strategy } from 'passport-http-bearer';
import { AuthenticationService } from './authentication.service';

@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, 'bearer') {
  constructor(private readonly authentication: AuthenticationService) {
    super();
  }

  /** Returns `false` for a token that is not live, as Passport expects. */
  async validate(token: string): Promise<Principal | false> {
    return (await this.authentication.authenticate(token)) ?? false;
  }
}

/**
 * Requires a live token for every route under `/api`, with the scopes that the route lists in `@Scopes()`. Requests
 * with the field that the route names in `@WithoutToken()` are exempt. A request counts against the rate limits of its
 * user; a request without a live token counts against its address.
 */
@Injectable()
export class BearerGuard extends AuthGuard('bearer') {
  constructor(
    private readonly reflector: Reflector,
    private readonly limits: RateLimitsService,
  ) {
    super({ session: false });
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const { routeOptions, body } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!isApiRoute(routeOptions.url)) return true;
    const credential = this.reflector.get<string | undefined>(WITHOUT_TOKEN_KEY, context.getHandler());
    if (credential !== undefined && hasField(body, credential)) return true;
    await super.canActivate(context);
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    this.count(context, request);
    const targets = [context.getHandler(), context.getClass()];
    const needed = this.reflector.getAllAndOverride<NeededScopes>(SCOPES_KEY, targets);
    const missing = missingScope(needed, request.user.scopes);
    if (missing) throw new ApiError('scope_missing', messageFor.missingScope(missing));
    return true;
  }

  /** Passes only one header to the strategy, which would also read `access_token` in query and body. */
  override getRequest(context: ExecutionContext): { headers: { authorization?: string } } {
    return { headers: { authorization: authorizationOf(context.switchToHttp().getRequest<FastifyRequest>()) } };
  }

  /** Sets the principal of the request. Without one, counts a failure for the address and throws 401 or 429. */
  override handleRequest<User = Principal>(
    error: unknown,
    user: User | false,
    _info: unknown,
    context: ExecutionContext,
  ): User {
    if (error) throw error as Error;
    if (!user) {
      this.limits.count('failure', senderOf(context.switchToHttp().getRequest<FastifyRequest>()));
      throw unauthenticated();
    }
    Object.assign(context.switchToHttp().getRequest<FastifyRequest>(), { user });
    return user;
  }

  private count(context: ExecutionContext, { user, body, routeOptions }: AuthenticatedRequest): void {
    const { limits, weigh } =
      this.reflector.get<RateRule | undefined>(RATE_RULE_KEY, context.getHandler()) ?? MANAGEMENT;
    // A large body was already counted once before it was read.
    const counted = (routeOptions.config as LargeBodyRule).scope ? 1 : 0;
    const weight = weigh?.(body) ?? 1;
    if (weight === counted) return;
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    for (const limit of limits) reply.headers(this.limits.count(limit, user.userId, weight, counted));
  }
}

const hasField = (body: unknown, field: string): boolean =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, field);
