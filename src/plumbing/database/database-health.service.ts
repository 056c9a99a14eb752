import { setImmediate as settled } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Pool } from 'pg';
import { HealthService } from '../health/health.service';
import { MetricsService } from '../metrics/metrics.service';

/** Makes PostgreSQL part of readiness, and measures the connections of this process. */
@Injectable()
export class DatabaseHealthService implements OnModuleInit {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly health: HealthService,
    private readonly metrics: MetricsService,
  ) {}

  onModuleInit(): void {
    this.health.register('postgres', async () => void (await this.dataSource.query('select 1')));
    const help = "Connections to PostgreSQL, BullMQ's own not counted, and statements that wait for one.";
    this.metrics.gauge('webhooks_postgres_connections', help, ['state'], async () => {
      // A statement of this same tick that finds an idle connection has it by then, and does not count as waiting.
      await settled();
      const { totalCount, idleCount, waitingCount } = (this.dataSource.driver as unknown as { master: Pool }).master;
      const counts = { total: totalCount, idle: idleCount, waiting: waitingCount };
      return Object.entries(counts).map(([state, value]) => ({ labels: { state }, value }));
    });
  }
}
