import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AcceptedEventsService } from './accepted-events.service';
import { AuthModule } from '../auth/auth.module';
import { CatalogueModule } from '../catalogue/catalogue.module';
import { Event } from './event.entity';
import { EventsController } from './requests/events.controller';
import { EventBatchesService } from './requests/event-batches.service';
import { EventsRepository } from './events.repository';
import { EventsService, PublicationRulesService } from './events.service';
import { FAN_OUT_QUEUE, FanOutQueue } from './fan-out.queue';
import { PublishTransactionSubscriber } from './publish-transaction.subscriber';

@Module({
  imports: [
    TypeOrmModule.forFeature([Event]),
    BullModule.registerQueue({ name: FAN_OUT_QUEUE }),
    CatalogueModule,
    AuthModule,
  ],
  controllers: [EventsController],
  providers: [
    AcceptedEventsService,
    EventBatchesService,
    EventsRepository,
    EventsService,
    FanOutQueue,
    PublicationRulesService,
    PublishTransactionSubscriber,
  ],
  exports: [EventsService, FanOutQueue],
})
export class EventsModule {}
