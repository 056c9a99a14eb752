import { type CustomDecorator, SetMetadata } from '@nestjs/common';

export const RATE_RULE_KEY = 'auth:rate';

/** How a request to a route counts for its user. */
export interface RateRule {
  limits: readonly ('manage' | 'publish' | 'test')[];
  /** How many a body counts as; absent: one. */
  weigh?: (body: unknown) => number;
}

/** What a route counts as that does not say so: management. */
export const MANAGEMENT: RateRule = { limits: ['manage'] };

export const RateLimit = (rule: RateRule): CustomDecorator => SetMetadata(RATE_RULE_KEY, rule);
