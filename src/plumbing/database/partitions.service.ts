import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { ClockService } from './clock.service';
import { SCHEMA } from './data-source.launcher';
import { type DayPartition, dayPartitions, type PartitionedTable } from './partitions';

const TABLES: readonly PartitionedTable[] = ['events', 'deliveries'];
const DAYS_BEHIND = 1;
const DAYS_AHEAD = 7;
const ENSURE_EVERY_MS = 3_600_000;

/** Makes the day partitions of events and deliveries in advance, at start and every hour. Every process does this. */
@Injectable()
export class PartitionsService implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Partitions');
  private timer?: NodeJS.Timeout;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly clock: ClockService,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.ensure();
    this.timer = setInterval(() => void this.ensureLogged(), ENSURE_EVERY_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Makes the partitions that are missing. The lock makes the second of two processes find nothing to do. */
  async ensure(): Promise<void> {
    for (const table of TABLES) {
      await this.dataSource.transaction(async (manager) => {
        await manager.query(`select pg_advisory_xact_lock(hashtext($1))`, [`${SCHEMA}.partitions`]);
        const wanted = dayPartitions(table, this.clock.now(), -DAYS_BEHIND, DAYS_AHEAD);
        for (const partition of await this.missing(manager, wanted)) await this.attach(manager, table, partition);
      });
    }
  }

  private async ensureLogged(): Promise<void> {
    try {
      await this.ensure();
    } catch (error) {
      this.logger.error(`Partitions could not be made ahead; the next try is in an hour: ${String(error)}`);
    }
  }

  private async missing(manager: EntityManager, wanted: DayPartition[]): Promise<DayPartition[]> {
    const names = wanted.map((partition) => `${SCHEMA}.${partition.name}`);
    const rows = await manager.query<{ name: string }[]>(
      'select name from unnest($1::text[]) as name where to_regclass(name) is null',
      [names],
    );
    return wanted.filter((partition) => rows.some((row) => row.name === `${SCHEMA}.${partition.name}`));
  }

  /** Makes the table first and attaches it then, which locks the parent only against other attachments. */
  private async attach(manager: EntityManager, table: PartitionedTable, partition: DayPartition): Promise<void> {
    const [parent, child] = [`${SCHEMA}.${table}`, `${SCHEMA}.${partition.name}`];
    await manager.query(`create table ${child} (like ${parent} including all)`);
    await manager.query(
      `alter table ${parent} attach partition ${child} for values from ('${partition.from}') to ('${partition.to}')`,
    );
  }
}
