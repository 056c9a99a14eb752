import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import { ClockService } from '../../plumbing/database/clock.service';
import { lowestIdOf } from '../../plumbing/database/id-time';
import { Repeat } from '../../plumbing/timers/repeat.timer';
import { longestWaitMs } from '../longest-wait';
import { SendQueue } from '../send.queue';
import { AheadRowsRepository } from './ahead-rows.repository';

const EVERY_MS = 60_000;
/** Longer than any lease is beyond the due time of its row. */
const TOLERATED_MS = 60_000;
const MAX_ROWS = 1000;

/**
 * Brings back rows that wait for a time further ahead than any wait is: PostgreSQL's clock was ahead when they were written, and
 * is right again. The sweeper would find them only when that time has come. Runs at start, and every minute.
 */
@Injectable()
export class AheadRowsService implements OnApplicationShutdown {
  private readonly logger = new Logger('Sweeper');
  private readonly repeat = new Repeat(() => this.bringBack(), {
    everyMs: EVERY_MS,
    onFailure: (error, isRepeated) => {
      if (!isRepeated) this.logger.warn(`Looking for rows that lie ahead failed; retrying: ${String(error)}`);
    },
  });

  constructor(
    private readonly config: Config,
    private readonly clock: ClockService,
    private readonly rows: AheadRowsRepository,
    private readonly send: SendQueue,
  ) {}

  /** Begins with a run now. */
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
