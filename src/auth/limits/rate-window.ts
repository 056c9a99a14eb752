const WINDOW_MS = 60_000;

interface Window {
  endsAtMs: number;
  used: number;
}

/** What a minute has left. */
export interface RateVerdict {
  /** How long to wait, in ms; 0: it was counted. */
  waitMs: number;
  remaining: number;
  /** Until the minute is over. */
  endsInMs: number;
}

/**
 * Allows each key at most `limit` per minute. A key's minute begins with its first count. What is refused does not
 * count. At most `maxKeys` keys are remembered: beyond that the oldest minute is forgotten, so a flood of keys costs
 * bounded memory. Times are milliseconds of any clock that never goes back.
 */
export class RateWindow {
  /** In the order in which they end, because all are equally long. */
  private readonly windows = new Map<string, Window>();

  constructor(
    readonly limit: number,
    private readonly maxKeys = 50_000,
  ) {}

  /**
   * Counts `weight` for the key. When that would be too much, it counts nothing and says how long to wait. A weight above
   * the whole limit passes when it is the first of its minute.
   * @param counted so much of the weight was counted by a call before
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

  /** How many keys are remembered. */
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
