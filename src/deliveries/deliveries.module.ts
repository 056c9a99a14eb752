import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DestinationsModule } from '../destinations/destinations.module';
import { Event } from '../events/event.entity';
import { EventsModule } from '../events/events.module';
import { HealthModule } from '../health/health.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { AttemptsService } from './attempts.service';
import { DeliveriesController } from './deliveries.controller';
import { DeliveriesRepository } from './deliveries.repository';
import { DeliveriesSweeper } from './deliveries.sweeper';
import { Delivery } from './delivery.entity';
import { DeliveryLogService } from './delivery-log.service';
import { DeliveryStopsService } from './delivery-stops.service';
import { EventLogController } from './event-log.controller';
import { EventLogService } from './event-log.service';
import { FanOutProcessor } from './fan-out.processor';
import { FanOutRepository } from './fan-out.repository';
import { SendProcessor } from './send.processor';
import { SEND_QUEUE, SendQueue } from './send.queue';
import { SweepRepository } from './sweep.repository';
import { SweepTimerService } from './sweep-timer.service';
import { WatchdogService } from './watchdog.service';
import { WebhookTestService } from './webhook-test.service';
import { WebhookTestsRepository } from './webhook-tests.repository';

@Module({
  imports: [
    TypeOrmModule.forFeature([Delivery, Event]),
    BullModule.registerQueue({ name: SEND_QUEUE }),
    DestinationsModule,
    EventsModule,
    HealthModule,
    WebhooksModule,
  ],
  controllers: [DeliveriesController, EventLogController],
  providers: [
    AttemptsService,
    DeliveriesRepository,
    DeliveriesSweeper,
    DeliveryLogService,
    DeliveryStopsService,
    EventLogService,
    FanOutProcessor,
    FanOutRepository,
    SendProcessor,
    SendQueue,
    SweepRepository,
    SweepTimerService,
    WatchdogService,
    WebhookTestService,
    WebhookTestsRepository,
  ],
})
export class DeliveriesModule {}
