import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config/config';
import { HealthModule } from '../health/health.module';
import { ClockService } from './clock.service';
import { dataSourceOptions } from './data-source.setup';
import { DatabaseHealthService } from './database-health.service';
import { PartitionsService } from './partitions.service';
import { SharedStateService } from './shared-state.service';
import { DayTablesRepository } from './day-tables.repository';
import { StatementTimesService } from './statement-times.service';
import { StatementsService } from './statements.service';

@Global()
@Module({
  imports: [
    HealthModule,
    TypeOrmModule.forRootAsync({
      inject: [Config],
      useFactory: (config: Config) => ({
        // When no url is set, `main.ts` has filled in the embedded PostgreSQL's.
        ...dataSourceOptions(config.databaseUrl ?? '', config.databasePoolSize),
        applicationName: `webhook-notification-service, queues on ${config.redisUrl === null ? 'PostgreSQL' : 'Redis'}`,
        autoLoadEntities: true,
        retryAttempts: 0,
      }),
    }),
  ],
  providers: [
    ClockService,
    DatabaseHealthService,
    DayTablesRepository,
    PartitionsService,
    SharedStateService,
    StatementTimesService,
    StatementsService,
  ],
  exports: [ClockService, DayTablesRepository, SharedStateService, StatementsService],
})
export class DatabaseModule {}
