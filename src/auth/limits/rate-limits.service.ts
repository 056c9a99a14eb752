import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import { ApiError } from '../../infrastructure/errors/api-error';
import { messageFor } from '../../infrastructure/errors/messages';
import { type RateVerdict, RateWindow } from './rate-window';

const TESTS_PER_MINUTE = 30;

const COUNTED = {
  manage: 'requests',
  publish: 'events',
  test: `tests: at most ${TESTS_PER_MINUTE} a minute are allowed`,
  failure: 'failed authentications from your address',
};

/** Counted quantities: requests and tests per user, events per publishing user, failed authentications per address. */
export type Limit = keyof typeof COUNTED;

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
   * Counts `weight` for a user or an address. Returns the `RateLimit` headers of the response; none without a limit.
   * @param counted the part of the weight that an earlier call has counted
   * @throws ApiError 429 with `retry-after` when the limit of the minute is exceeded; then nothing is counted
   */
  count(limit: Limit, key: string, weight = 1, counted = 0): Record<string, string> {
    const window = this.windows[limit];
    if (!window) return {};
    const verdict = window.take(key, performance.now(), weight, counted);
    const headers = rateHeaders(limit, window.limit, verdict);
    if (verdict.waitMs === 0) return headers;
    const seconds = inSeconds(verdict.waitMs);
    throw new ApiError('rate_limited', messageFor.tooMany(COUNTED[limit], seconds), {
      headers: { ...headers, 'retry-after': String(seconds) },
    });
  }
}

const POLICIES: Partial<Record<Limit, string>> = { manage: 'requests', publish: 'publish' };

function rateHeaders(limit: Limit, quota: number, { remaining, endsInMs }: RateVerdict): Record<string, string> {
  const policy = POLICIES[limit];
  if (!policy) return {};
  return {
    'ratelimit-policy': `"${policy}";q=${quota};w=60`,
    ratelimit: `"${policy}";r=${remaining};t=${inSeconds(endsInMs)}`,
  };
}

const inSeconds = (ms: number): number => Math.ceil(ms / 1000);

/** 0 means no limit. */
const windowOf = (perMinute: number): RateWindow | null => (perMinute === 0 ? null : new RateWindow(perMinute));
