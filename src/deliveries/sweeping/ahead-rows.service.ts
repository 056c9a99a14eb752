import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config } from '../../infrastructure/config/config';
import { ClockService } from '../../infrastructure/database/clock.service';
import { lowestIdOf } from '../../infrastructure/database/id-time';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { longestWaitMs } from '../longest-wait';
import { WaitingRowsRepository } from '../rows/waiting-rows.repository';
import { SendQueue } from '../send.queue';

const EVERY_MS = 60_000;
/** Longer than any lease lasts beyond the due time of its row. */
const TOLERATED_MS = 60_000;
const MAX_ROWS = 1000;

/** Releases events to the sweeper, which enqueues jobs for them. */
const RELEASE_EVENTS = `
  with ahead as materialized (
    select id from webhook_service.events
    where fanned_out_at is null and leased_until > now() + $1 * interval '1 millisecond'
    order by leased_until desc limit $2 for update skip locked
  )
  update webhook_service.events e
  set claimed = false, leased_until = now()
  where e.id = any(array(select id from ahead))`;

/** Moves creation times in the future to now: an event reaches only webhooks that are older than itself. */
const DATE_WEBHOOKS = `
  with ahead as materialized (
    select id from webhook_service.webhooks where id >= $1 and created_at > now()
    order by id limit ${MAX_ROWS} for no key update skip locked
  )
  update webhook_service.webhooks w set created_at = now() from ahead where w.id = ahead.id`;

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
    private readonly rows: WaitingRowsRepository,
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly send: SendQueue,
    tasks: WorkerTasksService,
  ) {
    const onFailure = logFirst(this.logger, 'Querying rows that are due too late');
    tasks.add(new Repeat(() => this.bringBack(), { everyMs: EVERY_MS, onFailure }));
  }

  private async bringBack(): Promise<number> {
    await this.dataSource.query(DATE_WEBHOOKS, [lowestIdOf(this.clock.now().getTime() + TOLERATED_MS)]);
    const [, events] = await this.dataSource.query<[unknown, number]>(RELEASE_EVENTS, [TOLERATED_MS, MAX_ROWS]);
    const deliveries = await this.rows.deferAhead(longestWaitMs(this.config) + TOLERATED_MS, MAX_ROWS);
    await this.send.forget(deliveries);
    const counts = { events, deliveries: deliveries.length };
    if (counts.events + counts.deliveries > 0)
      this.logger.warn({ msg: 'rows from a clock that was ahead are due', ...counts });
    return Object.values(counts).includes(MAX_ROWS) ? 0 : EVERY_MS;
  }
}
