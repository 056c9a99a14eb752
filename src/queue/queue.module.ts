import { BullModule } from '@nestjs/bullmq';
import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { setDefaultBackendFactory } from 'bullmq';
import { Config } from '../config/config';
import { HealthModule } from '../health/health.module';
import { producerConnection } from './connections.client';
import { createMendedPostgresBackend } from './postgres-backend.client';
import { QueueHealthService } from './queue-health.service';
import { RedisMemoryClient } from './redis-memory.client';
import { WorkersService } from './workers.service';

@Global()
@Module({
  imports: [
    HealthModule,
    DiscoveryModule,
    BullModule.forRootAsync({
      inject: [Config],
      useFactory: (config: Config) => {
        // Before any queue exists: every Queue and Worker of this process is made on this backend.
        setDefaultBackendFactory(config.redisUrl === null ? createMendedPostgresBackend : undefined);
        return {
          connection: producerConnection(config),
          defaultJobOptions: {
            attempts: 5,
            backoff: { type: 'exponential', delay: 200 },
            removeOnComplete: true,
            removeOnFail: true,
          },
        };
      },
      extraOptions: { manualRegistration: true },
    }),
  ],
  providers: [QueueHealthService, RedisMemoryClient, WorkersService],
  exports: [QueueHealthService, RedisMemoryClient, WorkersService],
})
export class QueueModule {}
