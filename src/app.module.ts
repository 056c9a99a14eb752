import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { AuthModule } from './auth/auth.module';
import { BearerGuard } from './auth/bearer/bearer.guard';
import { UserConcurrencyGuard } from './auth/limits/user-concurrency.guard';
import { ConsoleModule } from './console/console.module';
import type { Config } from './infrastructure/config/config';
import { ConfigModule } from './infrastructure/config/config.module';
import { DatabaseModule } from './infrastructure/database/database.module';
import { DeliveriesModule } from './deliveries/deliveries.module';
import { ApiExceptionFilter } from './infrastructure/errors/api-exception.filter';
import { ErasuresModule } from './erasures/erasures.module';
import { EventsModule } from './events/events.module';
import { HealthModule } from './infrastructure/health/health.module';
import { MetricsModule } from './infrastructure/metrics/metrics.module';
import { SourcesModule } from './sources/sources.module';
import { RequestValidationGuard } from './infrastructure/validation/request-validation.guard';
import { QueueModule } from './infrastructure/queue/queue.module';
import { WebhooksModule } from './webhooks/webhooks.module';

/** The root module. Everything that applies to all routes is set up here, not in a feature module. */
@Module({
  providers: [
    // Guards run in this order.
    { provide: APP_GUARD, useClass: BearerGuard },
    { provide: APP_GUARD, useClass: UserConcurrencyGuard },
    { provide: APP_GUARD, useClass: RequestValidationGuard },
    { provide: APP_FILTER, useClass: ApiExceptionFilter },
  ],
})
export class AppModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: AppModule,
      // Swagger UI shows the routes in this order.
      imports: [
        ConfigModule.forRoot(config),
        MetricsModule,
        DatabaseModule,
        QueueModule,
        HealthModule,
        AuthModule,
        ConsoleModule,
        WebhooksModule,
        EventsModule,
        DeliveriesModule.forRoot(config),
        SourcesModule,
        ErasuresModule,
      ],
    };
  }
}
