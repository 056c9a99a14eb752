import { Logger } from '@nestjs/common';
import type { DataSourceOptions } from 'typeorm';
import { InitialSchema1763800000000 } from './migrations/initial-schema.migration';
import type { PostgresConnection } from './postgres-connection.client';

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
    migrations: [InitialSchema1763800000000],
    migrationsTableName: 'migrations',
    extra: { max: poolSize, connectionTimeoutMillis: 5000, Client },
    // Without a handler, a connection that breaks while idle would end the process.
    poolErrorHandler: (error: Error) => new Logger('Database').warn(`An idle connection broke: ${error.message}`),
  };
}
