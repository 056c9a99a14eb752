import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Event } from '../../events/event.entity';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { Delivery } from '../delivery.entity';
import { ChangesRepository } from './changes.repository';
import { ChangesService } from './changes.service';
import { DeliveryListsService } from './delivery-lists.service';
import { DeliveryLogController } from './delivery-log.controller';
import { DeliveryLogService } from './delivery-log.service';
import { DeliveryPagesRepository } from './delivery-pages.repository';
import { EventLogController } from './event-log.controller';
import { EventLogService } from './event-log.service';
import { VisibleEventsRepository } from './visible-events.repository';

/** Lets users read their deliveries and events. */
@Module({
  imports: [TypeOrmModule.forFeature([Delivery, Event]), WebhooksModule],
  controllers: [DeliveryLogController, EventLogController],
  providers: [
    ChangesRepository,
    ChangesService,
    DeliveryListsService,
    DeliveryLogService,
    DeliveryPagesRepository,
    EventLogService,
    VisibleEventsRepository,
  ],
  exports: [DeliveryLogService, EventLogService],
})
export class LogModule {}
