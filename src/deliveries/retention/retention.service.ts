import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../plumbing/config/config';
import { DayTablesRepository } from '../../plumbing/database/day-tables.repository';
import type { DayPartition, PartitionedTable } from '../../plumbing/database/partitions';
import { RetentionCutoffService } from './retention-cutoff.service';
import { RetentionRepository } from './retention.repository';

const EVERY_MS = 3_600_000;

/**
 * Drops what is past retention, a whole day at a time, from a timer of this process; one process at a time. A day on
 * which something is still to be delivered stays until it is not.
 */
@Injectable()
export class RetentionService implements OnApplicationShutdown {
  private readonly logger = new Logger('Retention');
  private timer?: NodeJS.Timeout;

  constructor(
    private readonly config: Config,
    private readonly cutoff: RetentionCutoffService,
    private readonly days: DayTablesRepository,
    private readonly retention: RetentionRepository,
  ) {}

  start(): void {
    void this.run();
    this.timer = setInterval(() => void this.run(), EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  async apply(): Promise<void> {
    await this.days.alone(async () => {
      const firstKeptId = this.cutoff.firstKeptId();
      // Deliveries first: one whose event is gone could not be shown.
      for (const table of ['deliveries', 'events'] as const) {
        for (const day of await this.days.before(table, firstKeptId)) await this.drop(table, day);
      }
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

  private async run(): Promise<void> {
    try {
      await this.apply();
    } catch (error) {
      this.logger.error(`What is past retention could not be dropped; the next try is in an hour: ${String(error)}`);
    }
  }
}
