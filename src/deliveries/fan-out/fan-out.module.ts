import { Module } from '@nestjs/common';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { EventsModule } from '../../events/events.module';
import { SendingModule } from '../sending/sending.module';
import { FanOutProcessor } from './fan-out.processor';
import { FanOutRepository } from './fan-out.repository';
import { FanOutService } from './fan-out.service';

@Module({
  imports: [WebhooksModule, EventsModule, SendingModule],
  providers: [FanOutProcessor, FanOutRepository, FanOutService],
  exports: [FanOutService],
})
export class FanOutModule {}
