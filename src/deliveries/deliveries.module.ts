import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Queue } from 'bullmq';
import type { Config } from '../config/config';
import { DestinationsModule } from '../destinations/destinations.module';
import { CatalogueModule } from '../events/catalogue.module';
import { Event } from '../events/event.entity';
import { EventsModule } from '../events/events.module';
import { HealthModule } from '../health/health.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { AttemptReportsService } from './attempt-reports.service';
import { AttemptSlotsService } from './attempt-slots.service';
import { AttemptsService } from './attempts.service';
import { AttendanceService } from './attendance.service';
import { DeliveriesController } from './deliveries.controller';
import { DeliveriesRepository } from './deliveries.repository';
import { DeliveriesSweeper } from './deliveries.sweeper';
import { DeliveryLogController } from './delivery-log.controller';
import { DeliveryLogService } from './delivery-log.service';
import { DeliveryStopsService } from './delivery-stops.service';
import { Delivery } from './delivery.entity';
import { DispatchService } from './dispatch.service';
import { EventLogController } from './event-log.controller';
import { EventLogService } from './event-log.service';
import { FanOutProcessor } from './fan-out.processor';
import { FanOutRepository } from './fan-out.repository';
import { FanOutService } from './fan-out.service';
import { LocalFanOutService } from './local-fan-out.service';
import { MissedEventsRepository } from './missed-events.repository';
import { ParkedRepository } from './parked.repository';
import { ParkingService } from './parking.service';
import { RecoveriesController } from './recoveries.controller';
import { RecoveriesRepository } from './recoveries.repository';
import { RecoveriesService } from './recoveries.service';
import { RecoveryProgressService } from './recovery-progress.service';
import { RecoveryTimerService } from './recovery-timer.service';
import { Recovery } from './recovery.entity';
import { RedeliveriesRepository } from './redeliveries.repository';
import { RedeliveryService } from './redelivery.service';
import { RetentionCutoffService } from './retention-cutoff.service';
import { RetentionRepository } from './retention.repository';
import { RetentionService } from './retention.service';
import { sendQueueNames } from './send-queues';
import { sendProcessors } from './send.processor';
import { SenderService } from './sender.service';
import { SEND_QUEUES, SendQueue } from './send.queue';
import { SweepTimerService } from './sweep-timer.service';
import { SweepRepository } from './sweep.repository';
import { TestEventsService } from './test-events.service';
import { VisibleEventsRepository } from './visible-events.repository';
import { WatchdogService } from './watchdog.service';
import { WebhookEndingsService } from './webhook-endings.service';
import { WebhookTestService } from './webhook-test.service';
import { WebhookTestsRepository } from './webhook-tests.repository';

@Module({
  imports: [
    TypeOrmModule.forFeature([Delivery, Event, Recovery]),
    CatalogueModule,
    DestinationsModule,
    EventsModule,
    HealthModule,
    WebhooksModule,
  ],
  controllers: [DeliveriesController, RecoveriesController, DeliveryLogController, EventLogController],
  providers: [
    AttemptReportsService,
    AttemptSlotsService,
    AttemptsService,
    AttendanceService,
    DeliveriesRepository,
    DeliveriesSweeper,
    DeliveryLogService,
    DeliveryStopsService,
    DispatchService,
    EventLogService,
    FanOutProcessor,
    FanOutRepository,
    FanOutService,
    LocalFanOutService,
    MissedEventsRepository,
    ParkedRepository,
    ParkingService,
    RecoveriesRepository,
    RecoveriesService,
    RecoveryProgressService,
    RecoveryTimerService,
    RedeliveriesRepository,
    RedeliveryService,
    RetentionCutoffService,
    RetentionRepository,
    RetentionService,
    SendQueue,
    SenderService,
    SweepRepository,
    SweepTimerService,
    TestEventsService,
    VisibleEventsRepository,
    WatchdogService,
    WebhookEndingsService,
    WebhookTestService,
    WebhookTestsRepository,
  ],
})
export class DeliveriesModule {
  static forRoot({ redisUrl }: Config): DynamicModule {
    const names = sendQueueNames(redisUrl);
    return {
      module: DeliveriesModule,
      imports: [BullModule.registerQueue(...names.map((name) => ({ name })))],
      providers: [
        ...sendProcessors(names.length),
        {
          provide: SEND_QUEUES,
          inject: names.map((name) => getQueueToken(name)),
          useFactory: (...queues: Queue[]) => queues,
        },
      ],
    };
  }
}
