import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { whileBusy } from '../concurrency/pauses.timer';
import { logFirst, Repeat } from '../concurrency/repeat.timer';
import { ClockService } from './clock.service';
import { SCHEMA } from './data-source.setup';
import { AUTOVACUUM, type DayPartition, dayPartitions, type PartitionedTable } from './partitions';
import { HOUR_MS } from '../config/durations';

const TABLES: readonly PartitionedTable[] = ['events', 'deliveries'];
const DAYS_BEHIND = 1;
const DAYS_AHEAD = 7;
const ENSURE_EVERY_MS = HOUR_MS;
const POLL_INTERVAL_MS = 1000;

const LOCK = 'select pg_try_advisory_xact_lock(hashtext($1)) as ok';

/** Attaching a partition may have to wait for maintenance of the table. */
const WITHOUT_LIMITS = 'set local statement_timeout = 0; set local lock_timeout = 0';

const INDEXES = `
  select pg_get_indexdef(indexrelid) as definition from pg_index
  where indrelid = $1::regclass and not indisprimary order by indexrelid`;

/**
 * Creates the day partitions of events and deliveries in advance, at startup and every hour, in every process. The hour
 * is measured by PostgreSQL's clock: otherwise, after that clock jumps, no row of the new day could be inserted.
 */
@Injectable()
export class PartitionsService implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(PartitionsService.name);
  private ensuredAtMs = 0;
  private readonly repeat = new Repeat(() => this.ensureWhenDue(), {
    everyMs: POLL_INTERVAL_MS,
    onFailure: logFirst(this.logger, 'Creating partitions'),
  });

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: ClockService,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.ensureWhenDue();
    this.repeat.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.repeat.stop();
  }

  private async ensureWhenDue(): Promise<void> {
    const now = this.clock.now();
    if (Math.abs(now.getTime() - this.ensuredAtMs) < ENSURE_EVERY_MS) return;
    for (const table of TABLES) await this.ensure(table, now);
    this.ensuredAtMs = now.getTime();
  }

  /**
   * Creates missing partitions. One process at a time: the next finds nothing to do. It polls for the lock, because the connection of
   * a statement that waits longer than `silenceMs` is closed, and creating nine days of indexes may take longer on a slow disk.
   */
  private async ensure(table: PartitionedTable, now: Date): Promise<void> {
    const wanted = dayPartitions(table, now, -DAYS_BEHIND, DAYS_AHEAD);
    await whileBusy(() =>
      this.dataSource.transaction(async (manager) => {
        const [lock] = await manager.query<{ ok: boolean }[]>(LOCK, [`${SCHEMA}.partitions`]);
        if (!lock?.ok) return 'busy';
        const missing = await this.missing(manager, wanted);
        if (missing.length > 0) await manager.query(WITHOUT_LIMITS);
        for (const partition of missing) await this.attach(manager, table, partition);
        return null;
      }),
    );
  }

  private async missing(manager: EntityManager, wanted: DayPartition[]): Promise<DayPartition[]> {
    const names = wanted.map((partition) => `${SCHEMA}.${partition.name}`);
    const rows = await manager.query<{ name: string }[]>(
      'select name from unnest($1::text[]) as name where to_regclass(name) is null',
      [names],
    );
    return wanted.filter((partition) => rows.some((row) => row.name === `${SCHEMA}.${partition.name}`));
  }

  /**
   * Creates the table first and then attaches it, which locks the parent only against other attachments. The primary
   * key is created last: among indexes of equal cost, as in an empty table, PostgreSQL uses the newest.
   */
  private async attach(manager: EntityManager, table: PartitionedTable, partition: DayPartition): Promise<void> {
    const [parent, child] = [`${SCHEMA}.${table}`, `${SCHEMA}.${partition.name}`];
    await manager.query(`create table ${child} (like ${parent} including all excluding indexes) with (${AUTOVACUUM})`);
    for (const { definition } of await manager.query<{ definition: string }[]>(INDEXES, [parent]))
      await manager.query(definition.replace(/ INDEX \S+ ON ONLY \S+/, ` INDEX ON ${child}`));
    await manager.query(`alter table ${child} add primary key (id)`);
    await manager.query(
      `alter table ${parent} attach partition ${child} for values from ('${partition.from}') to ('${partition.to}')`,
    );
  }
}
