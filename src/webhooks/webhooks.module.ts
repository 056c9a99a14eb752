import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DestinationsModule } from '../infrastructure/destinations/destinations.module';
import { HealthModule } from '../infrastructure/health/health.module';
import { CatalogueModule } from '../catalogue/catalogue.module';
import { ExternalWebhooksController } from './external-webhooks.controller';
import { FiltersService } from './filters.service';
import { ProjectionsService } from './projections.service';
import { HeaderPrefixService } from './headers/header-prefix.service';
import { HeadersService } from './headers/headers.service';
import { SecretsHealthService } from './secrets/secrets-health.service';
import { SecretsService } from './secrets/secrets.service';
import { WebhookHealthService } from './webhook-health.service';
import { WebhookRulesService } from './webhook-rules.service';
import { SecretRotationService } from './secret-rotation.service';
import { WebhookLifecycleService } from './webhook-lifecycle.service';
import { RollUpService } from './stats/roll-up.service';
import { StatsController } from './stats/stats.controller';
import { StatsRepository } from './stats/stats.repository';
import { StatsService } from './stats/stats.service';
import { WebhookViewsService } from './webhook-views.service';
import { Webhook } from './webhook.entity';
import { WebhooksController } from './webhooks.controller';
import { WebhooksService } from './webhooks.service';

@Module({
  imports: [TypeOrmModule.forFeature([Webhook]), CatalogueModule, DestinationsModule, HealthModule],
  controllers: [ExternalWebhooksController, WebhooksController, StatsController],
  providers: [
    SecretsService,
    SecretsHealthService,
    WebhookHealthService,
    WebhookRulesService,
    SecretRotationService,
    WebhookLifecycleService,
    WebhooksService,
    FiltersService,
    HeaderPrefixService,
    HeadersService,
    ProjectionsService,
    WebhookViewsService,
    StatsRepository,
    StatsService,
    RollUpService,
  ],
  exports: [
    FiltersService,
    HeadersService,
    ProjectionsService,
    RollUpService,
    SecretsHealthService,
    SecretsService,
    StatsService,
    WebhookHealthService,
    WebhookLifecycleService,
    WebhooksService,
  ],
})
export class WebhooksModule {}
