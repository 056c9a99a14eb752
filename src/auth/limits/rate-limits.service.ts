import { Injectable } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';
import { type RateVerdict, RateWindow } from './rate-window';

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
   * Counts `weight` for a user or an address. Answers the `RateLimit` headers of the answer, none where there is no limit.
   * @param counted so much of the weight was counted by a call before
   * @throws ApiError 429 with `retry-after` when that is too much within a minute; then nothing is counted
   */
  count(limit: Limit, key: string, weight = 1, counted = 0): Record<string, string> {
    const window = this.windows[limit];
    if (!window) return {};
    const verdict = window.take(key, performance.now(), weight, counted);
    const headers = rateHeaders(limit, window.limit, verdict);
    if (verdict.waitMs === 0) return headers;
    throw new ApiError(429, REFUSALS[limit], { ...headers, 'retry-after': inSeconds(verdict.waitMs) });
  }
}

/** The limits that clients are told of, by the names of their policies. */
const POLICIES: Partial<Record<Limit, string>> = { manage: 'requests', publish: 'publish' };

/** draft-ietf-httpapi-ratelimit-headers. */
function rateHeaders(limit: Limit, quota: number, { remaining, endsInMs }: RateVerdict): Record<string, string> {
  const policy = POLICIES[limit];
  if (!policy) return {};
  return {
    'ratelimit-policy': `"${policy}";q=${quota};w=60`,
    ratelimit: `"${policy}";r=${remaining};t=${inSeconds(endsInMs)}`,
  };
}

const inSeconds = (ms: number): string => String(Math.ceil(ms / 1000));

/** 0 means no limit. */
const windowOf = (perMinute: number): RateWindow | null => (perMinute === 0 ? null : new RateWindow(perMinute));
