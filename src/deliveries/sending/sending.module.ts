import { Module } from '@nestjs/common';
import { CatalogueModule } from '../../catalogue/catalogue.module';
import { EventsModule } from '../../events/events.module';
import { DestinationsModule } from '../../infrastructure/destinations/destinations.module';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { NoticesModule } from '../notices/notices.module';
import { SlotsModule } from '../slots/slots.module';
import { DeferredDispatchService } from './deferred-dispatch.service';
import { AttemptReportsService } from './attempt-reports.service';
import { AttemptsService } from './attempts.service';
import { AutoDisableService } from './auto-disable.service';
import { DispatchService } from './dispatch.service';
import { OutcomesService } from './outcomes.service';
import { RequestSignerService } from './request-signer.service';
import { SendProcessor } from './send.processor';
import { SenderService } from './sender.service';

/** Makes attempts. Deliveries of new events, queue jobs and deferred rows all go through `DispatchService`. */
@Module({
  imports: [CatalogueModule, DestinationsModule, EventsModule, NoticesModule, SlotsModule, WebhooksModule],
  providers: [
    DeferredDispatchService,
    AttemptReportsService,
    AttemptsService,
    AutoDisableService,
    DispatchService,
    OutcomesService,
    RequestSignerService,
    SendProcessor,
    SenderService,
  ],
  exports: [
    AttemptReportsService,
    AttemptsService,
    AutoDisableService,
    DispatchService,
    OutcomesService,
    RequestSignerService,
  ],
})
export class SendingModule {}
