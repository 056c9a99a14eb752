import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Event } from './event.entity';
import { EventTypesController } from './event-types.controller';
import { EventsController } from './events.controller';
import { EventsRepository } from './events.repository';
import { EventsService } from './events.service';
import { FAN_OUT_QUEUE, FanOutQueue } from './fan-out.queue';
import { PublishTransactionSubscriber } from './publish-transaction.subscriber';

@Module({
  imports: [TypeOrmModule.forFeature([Event]), BullModule.registerQueue({ name: FAN_OUT_QUEUE })],
  controllers: [EventsController, EventTypesController],
  providers: [EventsRepository, EventsService, FanOutQueue, PublishTransactionSubscriber],
  exports: [EventsService, FanOutQueue],
})
export class EventsModule {}
