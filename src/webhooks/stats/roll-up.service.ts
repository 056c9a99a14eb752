import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Repeat } from '../../plumbing/timers/repeat.timer';
import { StatsRepository } from './stats.repository';

const EVERY_MS = 5000;

/** Sums attempts up, so that numbers are read quickly. Until then they are read one by one: no number is ever late. */
@Injectable()
export class RollUpService implements OnApplicationShutdown {
  private readonly logger = new Logger('RollUp');
  private readonly repeat = new Repeat(() => this.rollUp(), {
    everyMs: EVERY_MS,
    onFailure: (error, isRepeated) => {
      if (!isRepeated) this.logger.warn(`Attempts cannot be summed up, and are tried again: ${String(error)}`);
    },
  });

  constructor(private readonly counts: StatsRepository) {}

  /** Sums up what is there, and every five seconds from now on. */
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
    if (await this.counts.rollUp()) return 0;
  }
}
