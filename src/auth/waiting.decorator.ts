import { type CustomDecorator, SetMetadata } from '@nestjs/common';

export const WAITS_WITH_KEY = 'auth:waits-with';

/**
 * Marks a route whose requests with this query parameter may wait. They do not count against the per-user concurrency
 * limit.
 */
export const WaitsWith = (parameter: string): CustomDecorator => SetMetadata(WAITS_WITH_KEY, parameter);
