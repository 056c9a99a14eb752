import { Logger } from '@nestjs/common';
import type { DataSourceOptions } from 'typeorm';
import { InitialSchema1763600000000 } from './migrations/initial-schema.migration';

/** Where all our tables live, `migrations` included. */
export const SCHEMA = 'webhook_service';

/** Options of the one TypeORM data source, shared by the service, its commands and the TypeORM CLI. */
export function dataSourceOptions(databaseUrl: string, poolSize: number, queryTimeoutMs?: number): DataSourceOptions {
  return {
    type: 'postgres',
    url: databaseUrl,
    schema: SCHEMA,
    applicationName: 'webhook-notification-service',
    migrations: [InitialSchema1763600000000],
    migrationsTableName: 'migrations',
    extra: { max: poolSize, connectionTimeoutMillis: 5000, keepAlive: true, query_timeout: queryTimeoutMs },
    // Without a handler, a connection that breaks while idle would end the process.
    poolErrorHandler: (error: Error) => new Logger('Database').warn(`An idle connection broke: ${error.message}`),
  };
}
