import { Logger } from '@nestjs/common';
import type { DataSourceOptions } from 'typeorm';
import { InitialSchema1763800000000 } from './migrations/initial-schema.migration';
import type { PostgresConnection } from './postgres-connection.client';

/** The schema of all our tables, including `migrations`. */
export const SCHEMA = 'webhook_service';

/**
 * Options of the one TypeORM data source, for the service, its commands and the TypeORM CLI. Only the service passes
 * `PostgresConnection` as `Client`: a statement of a command may be silent for longer than that class allows.
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
    // Without a handler, a connection that breaks while it is idle would end the process.
    poolErrorHandler: (error: Error) => new Logger('Database').warn(`An idle connection broke: ${error.message}`),
  };
}
