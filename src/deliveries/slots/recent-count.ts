const HALF_MS = 500;

/** How often something has happened lately: in the last second, or a part of it that is never less than its half. */
export class RecentCount {
  private current = 0;
  private before = 0;

  /** @param startedAt in ms, as all times here, of a clock that never goes back */
  constructor(private startedAt: number) {}

  add(now: number): void {
    this.roll(now);
    this.current += 1;
  }

  at(now: number): number {
    this.roll(now);
    return this.before + this.current;
  }

  private roll(now: number): void {
    const halves = Math.floor((now - this.startedAt) / HALF_MS);
    if (halves === 0) return;
    this.before = halves === 1 ? this.current : 0;
    this.current = 0;
    this.startedAt += halves * HALF_MS;
  }
}
