import type { Logger } from '@nestjs/common';
import { SECOND_MS } from '../config/durations';

export interface RepeatOptions {
  /**
   * Time from the end of one run to the start of the next, in ms, unless the task returns another time. Times of 1,000
   * or more vary by up to 500 ms: tasks start together, so that an idle process wakes up once a second.
   */
  everyMs: number;
  /**
   * Called when a run throws; must not throw. The next run starts after `everyMs`.
   * @param isRepeated true when the previous run failed too
   */
  onFailure: (error: unknown, isRepeated: boolean) => void;
}

/** Runs a task from `start` until `stop`, one run at a time. Its timer does not keep the process alive. */
export class Repeat {
  private timer?: NodeJS.Timeout;
  private running: Promise<void> = Promise.resolve();
  private stopped = true;
  private failing = false;

  /** @param task returns nothing, or the number of ms until its next run */
  constructor(
    private readonly task: () => Promise<number | void>,
    private readonly options: RepeatOptions,
  ) {}

  /** Starts the first run at once. Never throws. */
  start(): void {
    this.stopped = false;
    this.run();
  }

  /** Starts no further run. Resolves when the current run has ended. Never rejects. */
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

function together(inMs: number): number {
  const now = performance.now();
  return inMs < SECOND_MS ? inMs : Math.round((now + inMs) / SECOND_MS) * SECOND_MS - now;
}

/** Logs the first failure of a series. @param what such as "Sweeping" */
export const logFirst =
  (logger: Logger, what: string): RepeatOptions['onFailure'] =>
  (error, isRepeated) => {
    if (!isRepeated) logger.warn(`${what} failed; retrying: ${String(error)}`);
  };
