import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config/config';
import { HealthModule } from '../health/health.module';
import { ClockService } from './clock.service';
import { dataSourceOptions } from './data-source.launcher';
import { DatabaseHealthService } from './database-health.service';
import { PartitionsService } from './partitions.service';
import { StatementsService } from './statements.service';

/** A statement that takes longer has lost its connection without a word. */
const ANSWERS_WITHIN_MS = 15_000;

@Global()
@Module({
  imports: [
    HealthModule,
    TypeOrmModule.forRootAsync({
      inject: [Config],
      useFactory: (config: Config) => ({
        // `main.ts` has filled in the url of the embedded PostgreSQL where none was set.
        ...dataSourceOptions(config.databaseUrl ?? '', config.databasePoolSize, ANSWERS_WITHIN_MS),
        autoLoadEntities: true,
        retryAttempts: 0,
      }),
    }),
  ],
  providers: [ClockService, DatabaseHealthService, PartitionsService, StatementsService],
  exports: [ClockService, StatementsService],
})
export class DatabaseModule {}
