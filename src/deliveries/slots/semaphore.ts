/** So many may go on at once; who comes later waits for his turn. */
export class Permits {
  private readonly waiting: (() => void)[] = [];

  /** @param free at least 1 */
  constructor(private free: number) {}

  async take(): Promise<void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  give(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free += 1;
  }
}
