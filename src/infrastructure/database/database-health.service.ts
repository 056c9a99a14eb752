import { setImmediate as settled } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Pool } from 'pg';
import { TAKES_NO_WRITES } from '../errors/database-error';
import { HealthService, UnhealthyError } from '../health/health.service';
import { MetricsService } from '../metrics/metrics.service';

const IS_READ_ONLY = `select pg_is_in_recovery() or current_setting('transaction_read_only')::bool as "readOnly"`;

@Injectable()
export class DatabaseHealthService implements OnModuleInit {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly health: HealthService,
    private readonly metrics: MetricsService,
  ) {}

  onModuleInit(): void {
    this.health.register('postgres', () => this.assertTakesWrites());
    const help = "Connections to PostgreSQL, BullMQ's own not counted, and statements that wait for one.";
    this.metrics.gauge('webhooks_postgres_connections', help, ['state'], async () => {
      // By then a statement of this same tick that finds an idle connection holds it, and does not count as waiting.
      await settled();
      const { totalCount, idleCount, waitingCount } = this.pool;
      const counts = { total: totalCount, idle: idleCount, waiting: waitingCount };
      return Object.entries(counts).map(([state, value]) => ({ labels: { state }, value }));
    });
  }

  private get pool(): Pool {
    return (this.dataSource.driver as unknown as { master: Pool }).master;
  }

  /** Closes its connection when the server is read-only, because a new one may reach another server. */
  private async assertTakesWrites(): Promise<void> {
    const client = await this.pool.connect();
    const answer = await client.query<{ readOnly: boolean }>(IS_READ_ONLY).catch((error: Error) => {
      client.release(error);
      throw error;
    });
    const isReadOnly = answer.rows[0]?.readOnly !== false;
    client.release(isReadOnly);
    if (isReadOnly) throw new UnhealthyError(TAKES_NO_WRITES);
  }
}
