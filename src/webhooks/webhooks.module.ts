import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DestinationsModule } from '../destinations/destinations.module';
import { SecretsService } from './secrets.service';
import { Webhook } from './webhook.entity';
import { WebhookHealthService } from './webhook-health.service';
import { WebhookRulesService } from './webhook-rules.service';
import { WebhookStopsService } from './webhook-stops.service';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

@Module({
  imports: [TypeOrmModule.forFeature([Webhook]), DestinationsModule],
  controllers: [WebhooksController],
  providers: [SecretsService, WebhookHealthService, WebhookRulesService, WebhookStopsService, WebhooksService],
  exports: [SecretsService, WebhookHealthService, WebhookStopsService, WebhooksService],
})
export class WebhooksModule {}
