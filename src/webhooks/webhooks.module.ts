import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DestinationsModule } from '../plumbing/destinations/destinations.module';
import { CatalogueModule } from '../catalogue/catalogue.module';
import { SecretsService } from './secrets/secrets.service';
import { WebhookHealthService } from './webhook-health.service';
import { WebhookRulesService } from './webhook-rules.service';
import { SecretRotationService } from './secrets/secret-rotation.service';
import { WebhookLifecycleService } from './webhook-lifecycle.service';
import { Webhook } from './webhook.entity';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

@Module({
  imports: [TypeOrmModule.forFeature([Webhook]), CatalogueModule, DestinationsModule],
  controllers: [WebhooksController],
  providers: [
    SecretsService,
    WebhookHealthService,
    WebhookRulesService,
    SecretRotationService,
    WebhookLifecycleService,
    WebhooksService,
  ],
  exports: [SecretsService, WebhookHealthService, WebhookLifecycleService, WebhooksService],
})
export class WebhooksModule {}
