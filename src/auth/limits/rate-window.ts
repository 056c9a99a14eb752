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
   * the limit is accepted as the first of its minute.
   * @param counted the part of the weight that an earlier call has counted
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
