/** How often a task runs, and what is told when it fails. */
export interface RepeatOptions {
  /** From the end of one run to the beginning of the next, in ms, unless the task answers another time. */
  everyMs: number;
  /**
   * Called when a run throws. The task runs again all the same.
   * @param isRepeated true when the run before failed too
   */
  onFailure: (error: unknown, isRepeated: boolean) => void;
}

/** Runs a task from `start` until `stop`, one run at a time. Its timer does not keep the process alive. */
export class Repeat {
  private timer?: NodeJS.Timeout;
  private running: Promise<void> = Promise.resolve();
  private stopped = true;
  private failing = false;

  /** @param task answers nothing, or after how many ms to run again */
  constructor(
    private readonly task: () => Promise<number | void>,
    private readonly options: RepeatOptions,
  ) {}

  /** The first run begins at once. */
  start(): void {
    this.stopped = false;
    this.run();
  }

  /** Begins no further run. Resolves when the one under way has ended; never rejects. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private run(): void {
    this.running = this.runOnce().then((nextInMs) => {
      if (!this.stopped) this.timer = setTimeout(() => this.run(), nextInMs).unref();
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
