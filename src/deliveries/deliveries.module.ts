import { BullModule, getQueueToken } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Queue } from 'bullmq';
import type { Config } from '../plumbing/config/config';
import { DestinationsModule } from '../plumbing/destinations/destinations.module';
import { CatalogueModule } from '../catalogue/catalogue.module';
import { Event } from '../events/event.entity';
import { EventsModule } from '../events/events.module';
import { HealthModule } from '../plumbing/health/health.module';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { AdmissionService } from './sending/admission.service';
import { AttemptReportsService } from './sending/attempt-reports.service';
import { SlotsService } from './slots/slots.service';
import { AttemptsService } from './sending/attempts.service';
import { FirstAttemptsService } from './sending/first-attempts.service';
import { FirstRowsRepository } from './sending/first-rows.repository';
import { OutcomesService } from './sending/outcomes.service';
import { LeasesService } from './sending/leases.service';
import { RedeliveryController } from './recovery/redelivery.controller';
import { WebhookTrialController } from './trial/webhook-trial.controller';
import { ClaimsRepository } from './sending/claims.repository';
import { DeliveriesRepository } from './deliveries.repository';
import { AheadRowsRepository } from './sweeping/ahead-rows.repository';
import { AheadRowsService } from './sweeping/ahead-rows.service';
import { SweeperService } from './sweeping/sweeper.service';
import { DeliveryLogController } from './log/delivery-log.controller';
import { ChangesRepository } from './log/changes.repository';
import { ChangesService } from './log/changes.service';
import { DeliveryListsService } from './log/delivery-lists.service';
import { DeliveryLogService } from './log/delivery-log.service';
import { DeliveryPagesRepository } from './log/delivery-pages.repository';
import { CancellationService } from './cancellation.service';
import { Delivery } from './delivery.entity';
import { DispatchService } from './sending/dispatch.service';
import { EventLogController } from './log/event-log.controller';
import { EventLogService } from './log/event-log.service';
import { FanOutProcessor } from './fan-out/fan-out.processor';
import { FanOutRepository } from './fan-out/fan-out.repository';
import { FanOutService } from './fan-out/fan-out.service';
import { LocalFanOutService } from './fan-out/local-fan-out.service';
import { MissedEventsRepository } from './recovery/missed-events.repository';
import { ParkedRepository } from './slots/parked.repository';
import { ParkingService } from './slots/parking.service';
import { RecoveriesController } from './recovery/recoveries.controller';
import { RecoveriesRepository } from './recovery/recoveries.repository';
import { RecoveriesService } from './recovery/recoveries.service';
import { RecoveryEndService } from './recovery/recovery-end.service';
import { RecoveryProgressService } from './recovery/recovery-progress.service';
import { Recovery } from './recovery/recovery.entity';
import { RedeliveriesRepository } from './recovery/redeliveries.repository';
import { RedeliveryService } from './recovery/redelivery.service';
import { RetentionCutoffService } from './retention/retention-cutoff.service';
import { RetentionRepository } from './retention/retention.repository';
import { RetentionService } from './retention/retention.service';
import { sendQueueNames } from './send-queue-names';
import { sendProcessors } from './sending/send.processor';
import { SenderService } from './sending/sender.service';
import { SEND_QUEUES, SendQueue } from './send.queue';
import { SweepTimerService } from './sweeping/sweep-timer.service';
import { SweepRepository } from './sweeping/sweep.repository';
import { VisibleEventsRepository } from './log/visible-events.repository';
import { OldestDueRepository } from './sweeping/oldest-due.repository';
import { OldestDueService } from './sweeping/oldest-due.service';
import { WatchdogService } from './sweeping/watchdog.service';
import { AutoDisableService } from './sending/auto-disable.service';
import { WebhookTrialService } from './trial/webhook-trial.service';
import { WebhookTrialsRepository } from './trial/webhook-trials.repository';

@Module({
  imports: [
    TypeOrmModule.forFeature([Delivery, Event, Recovery]),
    CatalogueModule,
    DestinationsModule,
    EventsModule,
    HealthModule,
    WebhooksModule,
  ],
  controllers: [
    DeliveryLogController,
    RedeliveryController,
    WebhookTrialController,
    RecoveriesController,
    EventLogController,
  ],
  providers: [
    // The row and the queue.
    CancellationService,
    ClaimsRepository,
    DeliveriesRepository,
    SendQueue,
    // Fan-out.
    FanOutProcessor,
    FanOutRepository,
    FanOutService,
    LocalFanOutService,
    // Slots.
    SlotsService,
    ParkedRepository,
    ParkingService,
    // Sending.
    AdmissionService,
    AttemptReportsService,
    AttemptsService,
    FirstAttemptsService,
    FirstRowsRepository,
    OutcomesService,
    LeasesService,
    DispatchService,
    SenderService,
    AutoDisableService,
    // Sweeping.
    AheadRowsRepository,
    AheadRowsService,
    OldestDueRepository,
    OldestDueService,
    SweeperService,
    SweepRepository,
    SweepTimerService,
    WatchdogService,
    // The log.
    ChangesRepository,
    ChangesService,
    DeliveryListsService,
    DeliveryLogService,
    DeliveryPagesRepository,
    EventLogService,
    VisibleEventsRepository,
    // Recovery.
    MissedEventsRepository,
    RecoveriesRepository,
    RecoveriesService,
    RecoveryEndService,
    RecoveryProgressService,
    RedeliveriesRepository,
    RedeliveryService,
    // Trial.
    WebhookTrialService,
    WebhookTrialsRepository,
    // Retention.
    RetentionCutoffService,
    RetentionRepository,
    RetentionService,
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
