import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Event } from '../../events/event.entity';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { Delivery } from '../rows/delivery.entity';
import { ChangesRepository } from './changes.repository';
import { ChangesService } from './changes.service';
import { DeliveryLogController } from './delivery-log.controller';
import { DeliveryLogService } from './delivery-log.service';
import { EventLogController } from './event-log.controller';
import { EventLogService } from './event-log.service';

@Module({
  imports: [TypeOrmModule.forFeature([Delivery, Event]), WebhooksModule],
  controllers: [DeliveryLogController, EventLogController],
  providers: [ChangesRepository, ChangesService, DeliveryLogService, EventLogService],
  exports: [DeliveryLogService, EventLogService],
})
export class LogModule {}
