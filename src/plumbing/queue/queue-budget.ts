const COUNT_EVERY_MS = 500;

/**
 * How many more jobs a queue is to hold. Answers at once, from the last count and what was added since; counts again in
 * the background when that is old. While the queue does not answer, the last count stands.
 */
export class QueueBudget {
  private counted = 0;
  private countedAt = -Infinity;
  private added = 0;
  private counting = false;

  /**
   * @param max jobs that the queue is to hold, at least 1
   * @param count how many it holds; may reject
   * @param now a clock in ms that never goes back
   */
  constructor(
    private readonly max: number,
    private readonly count: () => Promise<number>,
    private readonly now: () => number,
  ) {}

  /** 0..max */
  remaining(): number {
    if (!this.counting && this.now() - this.countedAt >= COUNT_EVERY_MS) void this.countAgain();
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
      // The queue is away; who adds to it learns of that.
    }
    this.countedAt = this.now();
    this.counting = false;
  }
}
