import { type CustomDecorator, SetMetadata } from '@nestjs/common';

export const RATE_RULE_KEY = 'auth:rate';

/** How a request to a route counts for its user. */
export interface RateRule {
  limits: readonly ('manage' | 'publish' | 'test')[];
  /** How much a body counts; absent: 1. */
  weigh?: (body: unknown) => number;
}

/** The rule of a route that names none. */
export const MANAGEMENT: RateRule = { limits: ['manage'] };

/** Sets the rate rule of a route. */
export const RateLimit = (rule: RateRule): CustomDecorator => SetMetadata(RATE_RULE_KEY, rule);
