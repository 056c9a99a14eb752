const SECOND_MS = 1000;

/** How often a task runs, and what happens when it fails. */
export interface RepeatOptions {
  /**
   * From the end of one run to the start of the next, in ms, unless the task returns another time. From 1,000 on it becomes
   * up to 500 ms shorter or longer: tasks begin together, so that a process without work wakes up once a second.
   */
  everyMs: number;
  /**
   * Called when a run throws. Must not throw. The next run comes after `everyMs`.
   * @param isRepeated true when the run before has failed too
   */
  onFailure: (error: unknown, isRepeated: boolean) => void;
}

/** Runs a task from `start` until `stop`, one run at a time. Its timer does not keep the process alive. */
export class Repeat {
  private timer?: NodeJS.Timeout;
  private running: Promise<void> = Promise.resolve();
  private stopped = true;
  private failing = false;

  /** @param task returns nothing, or after how many ms it runs again */
  constructor(
    private readonly task: () => Promise<number | void>,
    private readonly options: RepeatOptions,
  ) {}

  /** Begins the first run at once. Never throws. */
  start(): void {
    this.stopped = false;
    this.run();
  }

  /** Begins no further run. Resolves when the current run has ended. Never rejects. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private run(): void {
    this.running = this.runOnce().then((nextInMs) => {
      if (!this.stopped) this.timer = setTimeout(() => this.run(), together(nextInMs)).unref();
    });
  }

  private async runOnce(): Promise<number> {
    const { everyMs, onFailure } = this.options;
    try {
      const nextInMs = await this.task();
      this.failing = false;
      return nextInMs ?? everyMs;
    } catch (error) {
      onFailure(error, this.failing);
      this.failing = true;
      return everyMs;
    }
  }
}

/** The time from now to the whole second of this process that is nearest to then, in ms. */
function together(inMs: number): number {
  const now = performance.now();
  return inMs < SECOND_MS ? inMs : Math.round((now + inMs) / SECOND_MS) * SECOND_MS - now;
}
