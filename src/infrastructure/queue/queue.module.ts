import { BullModule } from '@nestjs/bullmq';
import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { setDefaultBackendFactory } from 'bullmq';
import { Config } from '../config/config';
import { ClockService } from '../database/clock.service';
import { queuePrefixOf } from '../database/queue-prefix.setup';
import { StatementsService } from '../database/statements.service';
import { HealthModule } from '../health/health.module';
import { backendFor } from './postgres-backend.client';
import { JOB_OPTIONS, producerConnection } from './queue-connections.client';
import { QueueHealthService } from './queue-health.service';
import { WorkerTasksService } from './worker-tasks.service';
import { WorkersService } from './workers.service';

@Global()
@Module({
  imports: [
    HealthModule,
    DiscoveryModule,
    BullModule.forRootAsync({
      inject: [Config, ClockService, StatementsService],
      useFactory: async (config: Config, clock: ClockService, statements: StatementsService) => {
        // Must run before any queue is created: every Queue and Worker of this process uses this backend.
        setDefaultBackendFactory(backendFor(config.redisUrl, clock));
        return {
          connection: producerConnection(config),
          prefix: await queuePrefixOf(config, statements),
          defaultJobOptions: JOB_OPTIONS,
        };
      },
      extraOptions: { manualRegistration: true },
    }),
  ],
  providers: [QueueHealthService, WorkerTasksService, WorkersService],
  exports: [QueueHealthService, WorkerTasksService, WorkersService],
})
export class QueueModule {}
