import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import { ClockService } from '../../infrastructure/database/clock.service';
import { lowestIdOf } from '../../infrastructure/database/id-time';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { longestWaitMs } from '../longest-wait';
import { SendQueue } from '../send.queue';
import { AheadRowsRepository } from './ahead-rows.repository';

const EVERY_MS = 60_000;
/** Longer than any lease lasts beyond the due time of its row. */
const TOLERATED_MS = 60_000;
const MAX_ROWS = 1000;

/**
 * Repairs rows that wait longer than any row can: PostgreSQL's clock was ahead when they were written, and is correct again.
 * Otherwise the sweeper would find them only at that time. Runs at startup, and every minute.
 */
@Injectable()
export class AheadRowsService {
  private readonly logger = new Logger(AheadRowsService.name);

  constructor(
    private readonly config: Config,
    private readonly clock: ClockService,
    private readonly rows: AheadRowsRepository,
    private readonly send: SendQueue,
    tasks: WorkerTasksService,
  ) {
    const onFailure = logFirst(this.logger, 'Querying rows that are due too late');
    tasks.add(new Repeat(() => this.bringBack(), { everyMs: EVERY_MS, onFailure }));
  }

  private async bringBack(): Promise<number> {
    await this.rows.dateWebhooks(lowestIdOf(this.clock.now().getTime() + TOLERATED_MS));
    const events = await this.rows.releaseEvents(TOLERATED_MS, MAX_ROWS);
    const deliveries = await this.rows.deferDeliveries(longestWaitMs(this.config) + TOLERATED_MS, MAX_ROWS);
    await this.send.forget(deliveries);
    const counts = { events: events.length, deliveries: deliveries.length };
    if (counts.events + counts.deliveries > 0)
      this.logger.warn({ msg: 'rows from a clock that was ahead are due', ...counts });
    return Object.values(counts).includes(MAX_ROWS) ? 0 : EVERY_MS;
  }
}
