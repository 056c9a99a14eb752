import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { NoticesRepository } from './notices.repository';
import { NoticesService } from './notices.service';

@Module({
  imports: [EventsModule, WebhooksModule],
  providers: [NoticesRepository, NoticesService],
  exports: [NoticesService],
})
export class NoticesModule {}
