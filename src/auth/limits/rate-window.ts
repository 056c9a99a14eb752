const WINDOW_MS = 60_000;

interface Window {
  endsAtMs: number;
  used: number;
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
    private readonly limit: number,
    private readonly maxKeys = 50_000,
  ) {}

  /**
   * Counts `weight` for the key and returns 0. When that would be too much, it counts nothing and returns how long to
   * wait, in ms. A weight above the whole limit passes when it is the first of its minute.
   */
  take(key: string, nowMs: number, weight = 1): number {
    this.forgetEnded(nowMs);
    const window = this.windows.get(key);
    if (!window) {
      this.windows.set(key, { endsAtMs: nowMs + WINDOW_MS, used: weight });
      return 0;
    }
    if (window.used + weight > this.limit) return window.endsAtMs - nowMs;
    window.used += weight;
    return 0;
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
