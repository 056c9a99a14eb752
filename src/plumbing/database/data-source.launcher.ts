import { Logger } from '@nestjs/common';
import type { DataSourceOptions } from 'typeorm';
import type { PostgresConnection } from './postgres-connection.client';
import { EventKeysByAge1763640000000 } from './migrations/event-keys-by-age.migration';
import { EventTraces1763710000000 } from './migrations/event-traces.migration';
import { Followers1763660000000 } from './migrations/followers.migration';
import { InitialSchema1763600000000 } from './migrations/initial-schema.migration';
import { LogFilters1763730000000 } from './migrations/log-filters.migration';
import { ParkedDeliveries1763720000000 } from './migrations/parked-deliveries.migration';
import { QueueMonitor1763700000000 } from './migrations/queue-monitor.migration';
import { Repair1763650000000 } from './migrations/repair.migration';

/** Where all our tables live, `migrations` included. */
export const SCHEMA = 'webhook_service';

/**
 * Options of the one TypeORM data source, shared by the service, its commands and the TypeORM CLI. The service brings
 * `PostgresConnection` as `Client`; commands may have statements that are silent for longer.
 */
export function dataSourceOptions(
  databaseUrl: string,
  poolSize: number,
  Client?: typeof PostgresConnection,
): DataSourceOptions {
  return {
    type: 'postgres',
    url: databaseUrl,
    schema: SCHEMA,
    applicationName: 'webhook-notification-service',
    migrations: [
      InitialSchema1763600000000,
      EventKeysByAge1763640000000,
      Repair1763650000000,
      Followers1763660000000,
      QueueMonitor1763700000000,
      EventTraces1763710000000,
      ParkedDeliveries1763720000000,
      LogFilters1763730000000,
    ],
    migrationsTableName: 'migrations',
    extra: { max: poolSize, connectionTimeoutMillis: 5000, Client },
    // Without a handler, a connection that breaks while idle would end the process.
    poolErrorHandler: (error: Error) => new Logger('Database').warn(`An idle connection broke: ${error.message}`),
  };
}
