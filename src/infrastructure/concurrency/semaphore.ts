/** A counting semaphore, first come first served. */
export class Semaphore {
  private readonly waiters: (() => void)[] = [];

  /** @param free number of permits, at least 1 */
  constructor(private free: number) {}

  /** How many wait for a permit. */
  get waiting(): number {
    return this.waiters.length;
  }

  /** Acquires a permit if one is free; otherwise returns false. */
  tryAcquire(): boolean {
    if (this.free === 0) return false;
    this.free -= 1;
    return true;
  }

  async acquire(): Promise<void> {
    if (!this.tryAcquire()) await new Promise<void>((resolve) => this.waiters.push(resolve));
  }

  release(): void {
    const next = this.waiters.shift();
    if (next) next();
    else this.free += 1;
  }
}
