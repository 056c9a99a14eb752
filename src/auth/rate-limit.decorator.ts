import { applyDecorators, type CustomDecorator, SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { BodyRule } from '../infrastructure/http/json-body.setup';
import type { Scope } from './scope';
import { Scopes } from './scopes.decorator';

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

/** The parts of a request that decide whether it limits itself. */
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

/** Applies to requests with this query parameter. */
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
