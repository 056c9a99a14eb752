import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import { ApiError, messageFor } from '../../infrastructure/errors/api-error';
import { MINUTE_MS } from '../../infrastructure/config/durations';

const WINDOW_MS = MINUTE_MS;

interface Window {
  endsAtMs: number;
  used: number;
}

export interface RateVerdict {
  /** How long to wait, in ms; 0 if the weight was counted. */
  waitMs: number;
  remaining: number;
  /** Time until the minute ends, in ms. */
  endsInMs: number;
}

/**
 * Allows each key at most `limit` per minute. A key's minute begins with its first count. Rejected requests do not
 * count. Keeps at most `maxKeys` keys and drops the oldest, so that a flood of keys costs bounded memory. Times are
 * milliseconds of any monotonic clock.
 */
export class RateWindow {
  /** In the order in which they end, because all have the same length. */
  private readonly windows = new Map<string, Window>();

  constructor(
    readonly limit: number,
    private readonly maxKeys = 50_000,
  ) {}

  /**
   * Counts `weight` for the key. If that exceeds the limit, counts nothing and returns how long to wait. A weight above
   * the limit is accepted as the first of its minute. `counted` is the part of it that an earlier call has counted.
   */
  take(key: string, nowMs: number, weight = 1, counted = 0): RateVerdict {
    this.forgetEnded(nowMs);
    const window = this.windows.get(key) ?? { endsAtMs: nowMs + WINDOW_MS, used: 0 };
    this.windows.set(key, window);
    const endsInMs = window.endsAtMs - nowMs;
    const usedByOthers = Math.max(0, window.used - counted);
    const isCounted = usedByOthers === 0 || usedByOthers + weight <= this.limit;
    if (isCounted) window.used = usedByOthers + weight;
    return { waitMs: isCounted ? 0 : endsInMs, remaining: Math.max(0, this.limit - window.used), endsInMs };
  }

  get size(): number {
    return this.windows.size;
  }

  private forgetEnded(nowMs: number): void {
    for (const [key, { endsAtMs }] of this.windows) {
      if (endsAtMs > nowMs && this.windows.size < this.maxKeys) return;
      this.windows.delete(key);
    }
  }
}

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
