/** A counting semaphore, first come first served. */
export class Semaphore {
  private readonly waiting: (() => void)[] = [];

  /** @param free how many may hold it at once, at least 1 */
  constructor(private free: number) {}

  /** Takes a place at once. False: there is none. */
  tryAcquire(): boolean {
    if (this.free === 0) return false;
    this.free -= 1;
    return true;
  }

  /** Resolves when the caller holds one of the places. */
  async acquire(): Promise<void> {
    if (!this.tryAcquire()) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Gives a place back, to the first that waits. */
  release(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free += 1;
  }
}
