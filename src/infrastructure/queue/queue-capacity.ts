const COUNT_EVERY_MS = 500;
const COUNT_EMPTY_EVERY_MS = 10_000;

/**
 * How many more jobs a queue may hold. The result is immediate, from the last count and the jobs added since. A count
 * older than half a second is repeated in the background; one of an empty queue to which nothing was added since, after
 * 10 s. While the queue is unavailable, the last count is used.
 */
export class QueueCapacity {
  private counted = 0;
  private countedAt = -Infinity;
  private added = 0;
  private counting = false;

  /**
   * @param max maximum number of jobs in the queue, at least 1
   * @param count counts the jobs in the queue; may reject
   * @param now a monotonic clock in ms
   */
  constructor(
    private readonly max: number,
    private readonly count: () => Promise<number>,
    private readonly now: () => number,
  ) {}

  /** Returns 0 to `max`. Never throws. */
  remaining(): number {
    const everyMs = this.counted + this.added > 0 ? COUNT_EVERY_MS : COUNT_EMPTY_EVERY_MS;
    if (!this.counting && this.now() - this.countedAt >= everyMs) void this.countAgain();
    return Math.max(0, this.max - this.counted - this.added);
  }

  add(jobs: number): void {
    this.added += jobs;
  }

  private async countAgain(): Promise<void> {
    this.counting = true;
    const addedBefore = this.added;
    try {
      this.counted = await this.count();
      this.added -= addedBefore;
    } catch {
      // The queue is unavailable. A caller that adds to it gets the error.
    }
    this.countedAt = this.now();
    this.counting = false;
  }
}
