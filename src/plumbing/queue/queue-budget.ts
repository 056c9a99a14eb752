const COUNT_EVERY_MS = 500;
const COUNT_EMPTY_EVERY_MS = 10_000;

/**
 * How many more jobs a queue may hold. The answer comes at once, from the last count and what was added since. A count
 * older than half a second is made again in the background; one of an empty queue, to which nothing was added since, after 10 s.
 * While the queue does not answer, the last count stands.
 */
export class QueueBudget {
  private counted = 0;
  private countedAt = -Infinity;
  private added = 0;
  private counting = false;

  /**
   * @param max how many jobs the queue may hold, at least 1
   * @param count how many jobs it holds; may reject
   * @param now a clock in ms that never goes back
   */
  constructor(
    private readonly max: number,
    private readonly count: () => Promise<number>,
    private readonly now: () => number,
  ) {}

  /** From 0 to `max`. Never throws. */
  remaining(): number {
    const everyMs = this.counted + this.added > 0 ? COUNT_EVERY_MS : COUNT_EMPTY_EVERY_MS;
    if (!this.counting && this.now() - this.countedAt >= everyMs) void this.countAgain();
    return Math.max(0, this.max - this.counted - this.added);
  }

  /** Takes this many jobs from what remains, until the next count. */
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
      // The queue is away. A caller that adds to it gets the error.
    }
    this.countedAt = this.now();
    this.counting = false;
  }
}
