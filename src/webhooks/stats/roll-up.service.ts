import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Repeat } from '../../plumbing/timers/repeat.timer';
import { StatsRepository } from './stats.repository';

const EVERY_MS = 5000;

/**
 * Sums attempts up, so that numbers are read quickly. Until then they are read one by one: no number is ever late. Runs only
 * after this process has counted attempts; what a process leaves when it dies is summed up with the next ones.
 */
@Injectable()
export class RollUpService implements OnApplicationShutdown {
  private readonly logger = new Logger('RollUp');
  private readonly repeat = new Repeat(() => this.rollUp(), {
    everyMs: EVERY_MS,
    onFailure: (error, isRepeated) => {
      if (!isRepeated) this.logger.warn(`Attempts cannot be summed up, and are tried again: ${String(error)}`);
    },
  });

  /** At the start there may be attempts that another process has counted. */
  private hasCounted = true;

  constructor(private readonly counts: StatsRepository) {}

  /** This process has counted attempts: they are summed up within five seconds. */
  note(): void {
    this.hasCounted = true;
  }

  /** Sums up what is there, and from now on what this process counts. */
  start(): void {
    this.repeat.start();
  }

  /** Begins no further run. Resolves when the run under way has ended. */
  stop(): Promise<void> {
    return this.repeat.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  private async rollUp(): Promise<number | void> {
    if (!this.hasCounted) return;
    this.hasCounted = false;
    try {
      this.hasCounted = await this.counts.rollUp();
    } catch (error) {
      this.hasCounted = true;
      throw error;
    }
    if (this.hasCounted) return 0;
  }
}
