import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { BodyRule } from '../infrastructure/http/json-body.setup';
import { RateLimit, type RateRule } from './rate-limit.decorator';
import type { Scope } from './scope';
import { Scopes } from './scopes.decorator';

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
