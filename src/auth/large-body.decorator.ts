import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { BodyRule } from '../plumbing/http/json-body.launcher';
import { RateLimit, type RateRule } from './rate-limit.decorator';
import type { Scope } from './scope';
import { Scopes } from './scopes.decorator';

/** What a route with a large body asks before the body is read, in its Fastify config. */
export interface LargeBodyRule extends BodyRule {
  scope?: Scope;
  limits?: RateRule['limits'];
}

/** A route whose body may have up to 16 MiB. Its scope and its rate limits are judged before the body is read. */
export const LargeBody = (body: 'batch' | 'list', scope: Scope, rule: RateRule): MethodDecorator =>
  applyDecorators(
    RouteConfig({ body, scope, limits: rule.limits } satisfies LargeBodyRule),
    RateLimit(rule),
    Scopes(scope),
  );
