import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Pool, PoolClient } from 'pg';
import { isDiskFull, isLocked, TAKES_NO_WRITES } from '../errors/database-error';
import { HealthService, UnhealthyError } from '../health/health.service';
import { MetricsService } from '../metrics/metrics.service';

const IS_READ_ONLY = `select pg_is_in_recovery() or current_setting('transaction_read_only')::bool as "readOnly"`;

/**
 * Extends a table by 64 KiB and takes it back, because small rows may still fit into pages that exist. A backup locks the table
 * for as long as it runs, which says nothing about the disk. Costs 2 KB of write-ahead log and some dead rows of `pg_class`.
 */
const EXTEND = `
  begin; lock table webhook_service.write_check in access exclusive mode nowait; truncate webhook_service.write_check;
  insert into webhook_service.write_check select n, repeat('x', 8000) from generate_series(1, 8) as n; rollback`;

/**
 * Only a transaction that keeps dead rows counts. Without the rights of `pg_read_all_stats` PostgreSQL shows those of its own role
 * alone.
 */
const OLDEST_TRANSACTION = `
  select coalesce(extract(epoch from max(clock_timestamp() - xact_start)), 0)::float8 as seconds from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid() and coalesce(backend_xid, backend_xmin) is not null`;

/** So long is a disk that had room not looked at again. */
const ROOM_MS = 10_000;

@Injectable()
export class DatabaseHealthService implements OnModuleInit {
  /** By `performance.now()`. */
  private hadRoomAt = -Infinity;

  constructor(
    private readonly dataSource: DataSource,
    private readonly health: HealthService,
    private readonly metrics: MetricsService,
  ) {}

  onModuleInit(): void {
    this.health.register('postgres', () => this.assertTakesWrites());
    const help = "Connections to PostgreSQL, BullMQ's own not counted, and statements that wait for one.";
    let counts = {};
    this.metrics.beforeScrapes(() => {
      const { totalCount: total, idleCount: idle, waitingCount: waiting } = this.pool;
      counts = { total, idle, waiting };
    });
    this.metrics.gauge('webhooks_postgres_connections', help, ['state'], () =>
      Object.entries<number>(counts).map(([state, value]) => ({ labels: { state }, value })),
    );
    const age = 'Age of the oldest open transaction of the server, of all databases, in seconds.';
    this.metrics.gauge('webhooks_postgres_oldest_transaction_seconds', age, [], async () => {
      const [oldest] = await this.dataSource.query<[{ seconds: number }]>(OLDEST_TRANSACTION);
      return [{ labels: {}, value: oldest.seconds }];
    });
  }

  private get pool(): Pool {
    return (this.dataSource.driver as unknown as { master: Pool }).master;
  }

  /** Closes its connection when the server is read-only, because a new one may reach another server. */
  private async assertTakesWrites(): Promise<void> {
    const client = await this.pool.connect();
    try {
      const { rows } = await client.query<{ readOnly: boolean }>(IS_READ_ONLY);
      if (rows[0]?.readOnly !== false) throw new UnhealthyError(TAKES_NO_WRITES);
      if (performance.now() - this.hadRoomAt > ROOM_MS) await this.assertHasRoom(client);
      client.release();
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  }
  private async assertHasRoom(client: PoolClient): Promise<void> {
    await client.query(EXTEND).catch(async (error: Error) => {
      await client.query('rollback');
      if (isDiskFull(error)) throw new UnhealthyError('The disk of the database is full, or fails.');
      if (!isLocked(error)) throw error;
    });
    this.hadRoomAt = performance.now();
  }
}
