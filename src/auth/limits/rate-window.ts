const WINDOW_MS = 60_000;

interface Window {
  endsAtMs: number;
  used: number;
}

/**
 * At most `limit` in a minute for each key; the minute begins with the key's first one. What is refused does not count.
 * No more than `maxKeys` are remembered: past that the oldest minute is forgotten, so that a flood of keys costs bounded
 * memory. Times are milliseconds of any clock that never goes back.
 */
export class RateWindow {
  /** In the order in which they end, since all are equally long. */
  private readonly windows = new Map<string, Window>();

  constructor(
    private readonly limit: number,
    private readonly maxKeys = 50_000,
  ) {}

  /**
   * Counts `weight` for the key and answers 0; when that would be too many answers how long to wait, in milliseconds,
   * and counts nothing. One that weighs more than the whole limit passes alone in its minute.
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
