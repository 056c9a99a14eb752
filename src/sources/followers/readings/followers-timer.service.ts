import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { FollowerReadingsService } from './follower-readings.service';

const LOOK_EVERY_MS = 1000;
const MAX_READINGS = 8;

/** Looks every second for accounts that are due, in every process that works. */
@Injectable()
export class FollowersTimerService implements OnApplicationShutdown {
  private readonly logger = new Logger('Followers');
  private readonly stopping = new AbortController();
  private readonly underway = new Set<Promise<void>>();
  private timer?: NodeJS.Timeout;
  private failing = false;

  constructor(private readonly readings: FollowerReadingsService) {}

  start(): void {
    void this.look();
  }

  /** Begins no reading any more; those under way end at their next page and are left to another process. */
  stop(): void {
    this.stopping.abort();
    clearTimeout(this.timer);
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  private async look(): Promise<void> {
    try {
      const room = MAX_READINGS - this.underway.size;
      for (const reading of room > 0 ? await this.readings.claim(room) : []) {
        const end = this.readings.read(reading, this.stopping.signal).finally(() => this.underway.delete(end));
        this.underway.add(end);
      }
      this.failing = false;
    } catch (error) {
      if (!this.failing)
        this.logger.warn(`Accounts cannot be looked for, which is tried every second: ${String(error)}`);
      this.failing = true;
    }
    if (!this.stopping.signal.aborted) this.timer = setTimeout(() => void this.look(), LOOK_EVERY_MS);
  }
}
