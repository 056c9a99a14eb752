import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Repeat } from '../../../plumbing/timers/repeat.timer';
import { FollowerReadingsService } from './follower-readings.service';

const LOOK_EVERY_MS = 1000;
const MAX_READINGS = 24;
/** So many readings are kept for users who have none: slow servers of others do not delay them. */
const KEPT = MAX_READINGS / 2;

/** Looks for accounts that are due, every second, in every worker process. */
@Injectable()
export class FollowersTimerService implements OnApplicationShutdown {
  private readonly logger = new Logger('Followers');
  private readonly stopping = new AbortController();
  private readonly underway = new Set<Promise<void>>();
  private readonly repeat = new Repeat(() => this.look(), {
    everyMs: LOOK_EVERY_MS,
    onFailure: (error, isRepeated) => {
      if (!isRepeated) this.logger.warn(`Accounts cannot be looked for, which is tried every second: ${String(error)}`);
    },
  });

  constructor(private readonly readings: FollowerReadingsService) {}

  /** Reads accounts that are due, from now on. */
  start(): void {
    this.repeat.start();
  }

  /** Begins no further reading. Readings under way end at their next page, and other processes repeat them. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.repeat.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  private async look(): Promise<void> {
    const free = MAX_READINGS - this.underway.size;
    if (free <= 0) return;
    const claimed = await (free > KEPT ? this.readings.claim(free - KEPT) : this.readings.claim(free, 1));
    for (const reading of claimed) {
      const end = this.readings.read(reading, this.stopping.signal).finally(() => this.underway.delete(end));
      this.underway.add(end);
    }
  }
}
