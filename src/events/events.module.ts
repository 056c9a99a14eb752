import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { EventName } from 'webhook-notification';
import { type AddedEventType, EventCatalogue, type EventType } from 'webhook-notification/catalogue';
import { AcceptedEventsService } from './accepted-events.service';
import { CatalogueModule } from '../catalogue/catalogue.module';
import { Event } from './event.entity';
import { EventBatchesController } from './requests/event-batches.controller';
import { EventBatchesService } from './requests/event-batches.service';
import { EventsController } from './requests/events.controller';
import { EventsRepository } from './events.repository';
import { EventsService } from './events.service';
import { FAN_OUT_QUEUE, FanOutQueue } from './fan-out.queue';
import { PublicationRulesService } from './publication-rules.service';
import { PublishTransactionSubscriber } from './publish-transaction.subscriber';

@Module({
  imports: [TypeOrmModule.forFeature([Event]), BullModule.registerQueue({ name: FAN_OUT_QUEUE }), CatalogueModule],
  controllers: [EventsController, EventBatchesController],
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
export class EventsModule {
  /**
   * Adds the event types of a module and gives that module `EventsService`. The application does not start when a
   * schema is invalid, an example does not fit its schema, or a name already means something else.
   */
  static forFeature<const Types extends readonly EventType[]>(types: Declared<Types>): DynamicModule {
    const registration = {
      provide: Symbol('added event types'),
      inject: [EventCatalogue],
      useFactory: (catalogue: EventCatalogue) =>
        (types as readonly EventType[]).map((type) => catalogue.register(type)),
    };
    return {
      module: AddedEventsModule,
      imports: [CatalogueModule, EventsModule],
      providers: [registration],
      exports: [EventsModule],
    };
  }
}

/** Types whose names are in `EventPayloads` have examples of that; those of `defineEvent` have judged themselves. */
type Declared<Types extends readonly EventType[]> = {
  [I in keyof Types]: Types[I] extends { name: EventName } ? AddedEventType : Types[I];
};

@Module({})
class AddedEventsModule {}
