import { Logger } from '@nestjs/common';
import type { DataSourceOptions } from 'typeorm';
import { BusyDays1764000200000, EventSubjects1764001800000 } from './migrations/busy-days.migration';
import { Erasures1764000800000 } from './migrations/erasures.migration';
import { EventTypeOwners1764000100000 } from './migrations/event-type-owners.migration';
import { InitialSchema1763800000000 } from './migrations/initial-schema.migration';
import { Installation1764001000000, WriteCheck1764002100000 } from './migrations/installation.migration';
import { PullWebhooks1764000900000 } from './migrations/pull-webhooks.migration';
import { QueuePrefix1764001100000 } from './migrations/queue-prefix.migration';
import { RecoveryCounts1764001300000, UserCounts1764002200000 } from './migrations/recovery-counts.migration';
import { ReplicaIdentity1764001400000 } from './migrations/replica-identity.migration';
import { SecretRotations1764000300000 } from './migrations/secret-rotations.migration';
import { WebhookHeaders1764000660000 } from './migrations/webhook-headers.migration';
import { WebhookRates1764000690000 } from './migrations/webhook-rates.migration';
import { ReceiverBodies1764001700000, WebhookFormats1764000650000 } from './migrations/webhook-formats.migration';
import {
  DeletedAccounts1764001600000,
  RevokedTokens1764002300000,
  StoppingWebhooks1764001200000,
  UserTurns1764002000000,
} from './migrations/stopping-webhooks.migration';
import { SubscriptionTimes1764001900000, WebhookFilters1764000600000 } from './migrations/webhook-filters.migration';
import { WebhookLabels1764000400000 } from './migrations/webhook-labels.migration';
import { WebhookTiming1764000500000 } from './migrations/webhook-timing.migration';
import { WebhookNotices1764000700000 } from './migrations/webhook-notices.migration';
import { PostgresConnection } from './postgres-connection.client';

/** A request waits this long for a row or lock that another transaction of its user holds. */
const LOCK_TIMEOUT_MS = 1000;

/** The schema of all tables of the service, including `migrations`. */
export const SCHEMA = 'webhook_service';

/**
 * Returns the options of the only TypeORM data source, for the service, its commands and the TypeORM CLI.
 * @param silenceMs see `PostgresConnection`; 0 for commands and migrations, whose statements may take long
 */
export function dataSourceOptions(databaseUrl: string, poolSize: number, silenceMs?: number): DataSourceOptions {
  return {
    type: 'postgres',
    url: databaseUrl,
    schema: SCHEMA,
    applicationName: 'webhook-notification-service',
    migrations: [
      InitialSchema1763800000000,
      EventTypeOwners1764000100000,
      BusyDays1764000200000,
      SecretRotations1764000300000,
      WebhookLabels1764000400000,
      WebhookTiming1764000500000,
      WebhookFilters1764000600000,
      WebhookFormats1764000650000,
      WebhookHeaders1764000660000,
      WebhookRates1764000690000,
      WebhookNotices1764000700000,
      Erasures1764000800000,
      PullWebhooks1764000900000,
      Installation1764001000000,
      QueuePrefix1764001100000,
      StoppingWebhooks1764001200000,
      RecoveryCounts1764001300000,
      ReplicaIdentity1764001400000,
      DeletedAccounts1764001600000,
      ReceiverBodies1764001700000,
      EventSubjects1764001800000,
      SubscriptionTimes1764001900000,
      UserTurns1764002000000,
      WriteCheck1764002100000,
      UserCounts1764002200000,
      RevokedTokens1764002300000,
    ],
    migrationsTableName: 'migrations',
    extra: {
      max: poolSize,
      connectionTimeoutMillis: 5000,
      Client: PostgresConnection,
      silenceMs,
      lockTimeoutMs: LOCK_TIMEOUT_MS,
    },
    // Without a handler, a connection that breaks while idle would end the process.
    poolErrorHandler: (error: Error) =>
      new Logger('Database').warn(`An idle connection failed; the pool replaces it: ${error.message}`),
  };
}
