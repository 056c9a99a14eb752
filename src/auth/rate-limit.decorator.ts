import { type CustomDecorator, SetMetadata } from '@nestjs/common';

export const RATE_RULE_KEY = 'auth:rate';

/** How a request to a route counts against the limits of its user. */
export interface RateRule {
  limits: readonly ('manage' | 'publish' | 'test')[];
  /** Weight of a body; 1 if absent. */
  weigh?: (body: unknown) => number;
}

/** The rule of routes without one of their own. */
export const MANAGEMENT: RateRule = { limits: ['manage'] };

/** Sets the rate rule of a route. */
export const RateLimit = (rule: RateRule): CustomDecorator => SetMetadata(RATE_RULE_KEY, rule);
