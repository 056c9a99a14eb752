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

export const WAITS_WITH_KEY = 'auth:waits-with';

/** Marks a route whose requests with this parameter may wait, outside the per-user concurrency limit. */
export const WaitsWith = (parameter: string): CustomDecorator => SetMetadata(WAITS_WITH_KEY, parameter);

/** Fastify config of a route with a large body: the checks that run before the body is read. */
export interface LargeBodyRule extends BodyRule {
  scope?: Scope;
  limits?: RateRule['limits'];
}

/** Marks a route whose body may have up to 16 MiB. Its scope and rate limits are checked before the body is read. */
export const LargeBody = (body: 'batch' | 'list', scope: Scope, rule: RateRule): MethodDecorator =>
  applyDecorators(
    RouteConfig({ body, scope, limits: rule.limits } satisfies LargeBodyRule),
    RateLimit(rule),
    Scopes(scope),
  );
