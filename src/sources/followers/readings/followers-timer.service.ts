import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { logFirst, Repeat } from '../../../infrastructure/concurrency/repeat.timer';
import { WorkerTasksService } from '../../../infrastructure/queue/worker-tasks.service';
import { FollowerReadingsService } from './follower-readings.service';

const LOOK_EVERY_MS = 1000;
const MAX_READINGS = 24;
/** Readings reserved for users without a running one, so that slow servers of other users do not delay them. */
const KEPT = MAX_READINGS / 2;

/** Polls for due accounts every second, in every worker process. */
@Injectable()
export class FollowersTimerService implements OnModuleDestroy {
  private readonly logger = new Logger(FollowersTimerService.name);
  private readonly stopping = new AbortController();
  private readonly underway = new Set<Promise<void>>();

  constructor(
    private readonly readings: FollowerReadingsService,
    tasks: WorkerTasksService,
  ) {
    tasks.add(
      new Repeat(() => this.look(), { everyMs: LOOK_EVERY_MS, onFailure: logFirst(this.logger, 'Polling accounts') }),
    );
  }

  /** Running readings end at their next page, and other processes repeat them. */
  onModuleDestroy(): void {
    this.stopping.abort();
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
