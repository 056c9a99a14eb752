import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import { DayTablesRepository } from '../../plumbing/database/day-tables.repository';
import type { DayPartition, PartitionedTable } from '../../plumbing/database/partitions';
import { Repeat } from '../../plumbing/timers/repeat.timer';
import { RetentionCutoffService } from './retention-cutoff.service';
import { RetentionRepository } from './retention.repository';

const EVERY_MS = 3_600_000;

/**
 * Drops what is past retention, a whole day at a time. It runs from a timer of this process; only one process at a time
 * does the work. A day that still has something to deliver stays.
 */
@Injectable()
export class RetentionService implements OnApplicationShutdown {
  private readonly logger = new Logger('Retention');
  private readonly repeat = new Repeat(() => this.apply(), {
    everyMs: EVERY_MS,
    onFailure: (error) =>
      this.logger.error(`What is past retention could not be dropped; the next try is in an hour: ${String(error)}`),
  });

  constructor(
    private readonly config: Config,
    private readonly cutoff: RetentionCutoffService,
    private readonly days: DayTablesRepository,
    private readonly retention: RetentionRepository,
  ) {}

  /** Drops what is past retention now, and every hour from now on. */
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

  /** One run. Does nothing while another process does it. Throws while PostgreSQL is away. */
  async apply(): Promise<void> {
    await this.days.alone(async () => {
      const firstKeptId = this.cutoff.firstKeptId();
      // Deliveries go first: a delivery could not be shown without its event.
      for (const table of ['deliveries', 'events'] as const) {
        for (const day of await this.days.before(table, firstKeptId)) await this.drop(table, day);
      }
      await this.retention.forgetPauses(this.config.retentionDays);
      await this.retention.forgetCounts(this.config.retentionDays);
      const keys = await this.retention.forgetKeys(this.config.retentionDays);
      if (keys > 0) this.logger.log({ msg: 'idempotency keys forgotten', keys });
    });
  }

  private async drop(table: PartitionedTable, day: DayPartition): Promise<void> {
    if (await this.retention.isNeeded(table, day)) {
      this.logger.warn(`${day.name} is past retention and kept: something of it is still to be delivered.`);
      return;
    }
    await this.days.drop(table, day);
    this.logger.log({ msg: 'dropped', day: day.name });
  }
}
