import {
  applyDecorators,
  createParamDecorator,
  type CustomDecorator,
  type ExecutionContext,
  SetMetadata,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBearerAuth, ApiExtension, ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { BodyRule } from '../infrastructure/http/json-body.setup';
import type { NeededScopes, Principal, Scope } from './access-token';
import { ApiErrors, ApiOtherErrors } from '../infrastructure/http/api-answer.decorator';

export type AuthenticatedRequest = FastifyRequest & { user: Principal };

export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<AuthenticatedRequest>().user,
);

export const SCOPES_KEY = 'auth:scopes';

/**
 * Sets the scopes that a route requires: all of them; of an inner list, at least one. Without scopes, any live token is
 * accepted. Every route under `/api` has this decorator.
 */
export function Scopes(...scopes: NeededScopes): MethodDecorator {
  return applyDecorators(
    SetMetadata(SCOPES_KEY, scopes),
    ApiBearerAuth(),
    ApiErrors('unauthenticated', 'rate_limited', ...(scopes.length > 0 ? (['scope_missing'] as const) : [])),
    ApiOtherErrors(),
    ...(scopes.length > 0 ? [ApiExtension('x-required-scope', scopes.length > 1 ? scopes : scopes[0])] : []),
  );
}

export const WITHOUT_TOKEN_KEY = 'auth:without-token';

/** Marks a route under `/api` that needs no token if the request body has this field, which is itself a credential. */
export function WithoutToken(field: string): MethodDecorator {
  return applyDecorators(SetMetadata(WITHOUT_TOKEN_KEY, field), ApiSecurity({}));
}

export const RATE_RULE_KEY = 'auth:rate';

/** How a request to a route counts against the limits of its user. */
export interface RateRule {
  limits: readonly ('manage' | 'publish' | 'test')[];
  /** Weight of a body; 1 if absent. */
  weigh?: (body: unknown) => number;
}

/** The rule of routes without one of their own. */
export const MANAGEMENT: RateRule = { limits: ['manage'] };

export const RateLimit = (rule: RateRule): CustomDecorator => SetMetadata(RATE_RULE_KEY, rule);

export const HAS_OWN_SHARE_KEY = 'auth:has-own-share';

export interface SharedRequest {
  query: object;
  headers: object;
  body?: unknown;
}

export type HasOwnShare = (request: SharedRequest) => boolean;

/**
 * Marks a route whose requests, or some of them, limit by themselves how many connections a user holds: they wait for something
 * else than PostgreSQL, share statements, or take a share of `UserSharesService` for a part of their work.
 */
export const HasOwnShare = (applies: HasOwnShare): CustomDecorator => SetMetadata(HAS_OWN_SHARE_KEY, applies);

export const withQuery =
  (parameter: string): HasOwnShare =>
  ({ query }) =>
    Object.hasOwn(query, parameter);

/** Fastify config of a route with a large body: the checks that run before the body is read. */
export interface LargeBodyRule extends BodyRule {
  scope?: Scope;
  limits?: RateRule['limits'];
}

/**
 * Marks a route whose body may have up to 16 MiB. Its scope and rate limits are checked before the body is read, and one request
 * of a user is processed at a time.
 */
export const LargeBody = (body: 'batch' | 'list', scope: Scope, rule: RateRule): MethodDecorator =>
  applyDecorators(
    RouteConfig({ body, scope, limits: rule.limits } satisfies LargeBodyRule),
    RateLimit(rule),
    HasOwnShare(() => true),
    Scopes(scope),
  );
