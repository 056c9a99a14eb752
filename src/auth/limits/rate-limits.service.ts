import { Injectable } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';
import { RateWindow } from './rate-window';

const TESTS_PER_MINUTE = 30;

const REFUSALS = {
  manage: MESSAGES.tooManyRequests,
  publish: MESSAGES.tooManyEvents,
  test: MESSAGES.tooManyTests,
  failure: MESSAGES.tooManyFailures,
};

/** What is counted: requests and tests per user, events per publishing user, failed authentications per address. */
export type Limit = keyof typeof REFUSALS;

/** The rate limits of this process: each process counts for itself. */
@Injectable()
export class RateLimitsService {
  private readonly windows: Record<Limit, RateWindow | null>;

  constructor({ rateLimitPerMinute, publishLimitPerMinute, authFailuresPerMinute }: Config) {
    this.windows = {
      manage: windowOf(rateLimitPerMinute),
      publish: windowOf(publishLimitPerMinute),
      test: windowOf(rateLimitPerMinute === 0 ? 0 : TESTS_PER_MINUTE),
      failure: windowOf(authFailuresPerMinute),
    };
  }

  /**
   * Counts `weight` for a user or an address.
   * @throws ApiError 429 with `retry-after` when that is too much within a minute; then nothing is counted
   */
  count(limit: Limit, key: string, weight = 1): void {
    const waitMs = this.windows[limit]?.take(key, performance.now(), weight) ?? 0;
    if (waitMs > 0) throw new ApiError(429, REFUSALS[limit], { 'retry-after': String(Math.ceil(waitMs / 1000)) });
  }
}

/** 0 means no limit. */
const windowOf = (perMinute: number): RateWindow | null => (perMinute === 0 ? null : new RateWindow(perMinute));
