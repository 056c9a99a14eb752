import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module';
import { EventsModule } from '../../events/events.module';
import { WebhooksModule } from '../../webhooks/webhooks.module';
import { SendingModule } from '../sending/sending.module';
import { ConsumersService } from './consumers.service';
import { IdleWebhooksService } from './idle-webhooks.service';
import { ConsumerLeasesRepository } from './consumer-leases.repository';
import { MessagesController } from './messages.controller';
import { MessagesService } from './messages.service';
import { SettlementsService } from './settlements.service';

@Module({
  imports: [AuthModule, EventsModule, SendingModule, WebhooksModule],
  controllers: [MessagesController],
  providers: [ConsumersService, IdleWebhooksService, ConsumerLeasesRepository, MessagesService, SettlementsService],
})
export class PullingModule {}
