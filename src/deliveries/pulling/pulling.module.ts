import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { SendingModule } from '../sending/sending.module';
import { ConsumersService } from './consumers.service';
import { IdleWebhooksService } from './idle-webhooks.service';
import { LeasesRepository } from './leases.repository';
import { MessagesController } from './messages.controller';
import { MessagesService } from './messages.service';
import { SettlementsService } from './settlements.service';

/** Pull webhooks: consumers lease their deliveries and acknowledge them. */
@Module({
  imports: [EventsModule, SendingModule, WebhooksModule],
  controllers: [MessagesController],
  providers: [ConsumersService, IdleWebhooksService, LeasesRepository, MessagesService, SettlementsService],
})
export class PullingModule {}
