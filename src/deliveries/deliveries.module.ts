import { type DynamicModule, Module } from '@nestjs/common';
import type { Config } from '../infrastructure/config/config';
import { WebhooksModule } from '../webhooks/webhooks.module';
import { CancellationService } from './cancellation.service';
import { FanOutModule } from './fan-out/fan-out.module';
import { NoticesModule } from './notices/notices.module';
import { PreviewsModule } from './previews/previews.module';
import { LogModule } from './log/log.module';
import { PullingModule } from './pulling/pulling.module';
import { RecoveryModule } from './recovery/recovery.module';
import { RetentionModule } from './retention/retention.module';
import { RowsModule } from './rows/rows.module';
import { sendQueueNames } from './send.queue';
import { SendQueueModule } from './send-queue.module';
import { clusterSendProcessors } from './sending/send.processor';
import { SendingModule } from './sending/sending.module';
import { SlotsModule } from './slots/slots.module';
import { SweepingModule } from './sweeping/sweeping.module';
import { TestDeliveriesModule } from './test-deliveries/test-deliveries.module';

/** All delivery modules, in the order in which an event passes through them. */
@Module({
  imports: [
    RowsModule,
    FanOutModule,
    SlotsModule,
    SendingModule,
    PullingModule,
    NoticesModule,
    SweepingModule,
    LogModule,
    PreviewsModule,
    RecoveryModule,
    TestDeliveriesModule,
    RetentionModule,
    WebhooksModule,
  ],
  providers: [CancellationService],
})
export class DeliveriesModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: DeliveriesModule,
      imports: [SendQueueModule.forRoot(config)],
      providers: clusterSendProcessors(sendQueueNames(config.redisUrl)),
    };
  }
}
