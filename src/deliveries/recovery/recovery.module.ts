import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { LogModule } from '../log/log.module';
import { FilteredEventsService } from './filtered-events.service';
import { MissedEventsRepository } from './missed-events.repository';
import { RecoveriesController } from './recoveries.controller';
import { RecoveriesRepository } from './recoveries.repository';
import { RecoveriesService } from './recoveries.service';
import { RecoveryProgressService } from './recovery-progress.service';
import { Recovery } from './recovery.entity';
import { RedeliveryService } from './redelivery.service';

@Module({
  imports: [TypeOrmModule.forFeature([Recovery]), LogModule, WebhooksModule],
  controllers: [RecoveriesController],
  providers: [
    FilteredEventsService,
    MissedEventsRepository,
    RecoveriesRepository,
    RecoveriesService,
    RecoveryProgressService,
    RedeliveryService,
  ],
})
export class RecoveryModule {}
