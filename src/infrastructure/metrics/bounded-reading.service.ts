/** One value of a gauge. */
export interface Sample<Label extends string> {
  labels: Record<Label, string>;
  value: number;
}

/** Longer than the 2 s that readiness gives its checks, because readiness is a gauge too. */
const READ_WITHIN_MS = 3000;
const READ_EVERY_MS = 5000;

/**
 * Reads from a store that may be slow or unavailable: at most every five seconds, and never concurrently. A scrape
 * never fails because of it, and waits at most three seconds. A value that could not be read is left out.
 */
export class BoundedReading<Label extends string> {
  private latest: Promise<readonly Sample<Label>[]> = Promise.resolve([]);
  private begunAt = -Infinity;
  private reading = false;

  constructor(private readonly read: () => readonly Sample<Label>[] | Promise<readonly Sample<Label>[]>) {}

  /** Returns the latest samples, or none when the store fails or takes longer than three seconds. Never throws. */
  async samples(): Promise<readonly Sample<Label>[]> {
    if (!this.reading && performance.now() - this.begunAt >= READ_EVERY_MS) this.begin();
    const leftMs = Math.max(0, this.begunAt + READ_WITHIN_MS - performance.now());
    if (!this.reading) return this.latest;
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<[]>((resolve) => (timer = setTimeout(() => resolve([]), leftMs)));
    try {
      return await Promise.race([this.latest, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  private begin(): void {
    this.begunAt = performance.now();
    this.reading = true;
    this.latest = this.readSafely();
  }

  private async readSafely(): Promise<readonly Sample<Label>[]> {
    try {
      return await this.read();
    } catch {
      return [];
    } finally {
      this.reading = false;
    }
  }
}
