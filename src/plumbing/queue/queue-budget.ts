const COUNT_EVERY_MS = 500;

/**
 * How many more jobs a queue may hold. The answer comes at once, from the last count and what was added since. A count
 * older than half a second is made again in the background. While the queue does not answer, the last count stands.
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
    if (!this.counting && this.now() - this.countedAt >= COUNT_EVERY_MS) void this.countAgain();
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
