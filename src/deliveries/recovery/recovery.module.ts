import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { LogModule } from '../log/log.module';
import { RetentionModule } from '../retention/retention.module';
import { FilteredEventsService } from './filtered-events.service';
import { MissedEventsRepository } from './missed-events.repository';
import { RecoveriesController } from './recoveries.controller';
import { RecoveriesRepository } from './recoveries.repository';
import { RecoveriesService } from './recoveries.service';
import { RecoveryProgressService } from './recovery-progress.service';
import { Recovery } from './recovery.entity';
import { RedeliveriesRepository } from './redeliveries.repository';
import { RedeliveryController } from './redelivery.controller';
import { RedeliveryService } from './redelivery.service';

/** Redelivers events: that of one delivery, or all missed events of a webhook. */
@Module({
  imports: [TypeOrmModule.forFeature([Recovery]), LogModule, RetentionModule, WebhooksModule],
  controllers: [RedeliveryController, RecoveriesController],
  providers: [
    FilteredEventsService,
    MissedEventsRepository,
    RecoveriesRepository,
    RecoveriesService,
    RecoveryProgressService,
    RedeliveriesRepository,
    RedeliveryService,
  ],
})
export class RecoveryModule {}
