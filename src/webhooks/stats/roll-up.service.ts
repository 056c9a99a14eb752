import { Injectable, Logger } from '@nestjs/common';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { StatsRepository } from './stats.repository';

const EVERY_MS = 5000;

/**
 * Sums up attempts so that statistics are read quickly. Attempts not summed up yet are read one by one, so statistics are never
 * late. Runs only after this process has counted attempts; the next run also sums up attempts left by a process that died.
 */
@Injectable()
export class RollUpService {
  private readonly logger = new Logger(RollUpService.name);
  /** True at the start, because another process may have counted attempts. */
  private hasCounted = true;

  constructor(
    private readonly counts: StatsRepository,
    tasks: WorkerTasksService,
  ) {
    tasks.add(
      new Repeat(() => this.rollUp(), { everyMs: EVERY_MS, onFailure: logFirst(this.logger, 'Rolling up attempts') }),
    );
  }

  /** Notes that this process has counted attempts. They are summed up within five seconds. */
  note(): void {
    this.hasCounted = true;
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
