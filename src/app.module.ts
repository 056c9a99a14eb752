import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { AboutModule } from './about/about.module';
import { AuthModule } from './auth/auth.module';
import { BearerGuard } from './auth/bearer/bearer.guard';
import { UserTurnsGuard } from './auth/limits/user-turns.guard';
import type { Config } from './plumbing/config/config';
import { ConfigModule } from './plumbing/config/config.module';
import { DatabaseModule } from './plumbing/database/database.module';
import { DeliveriesModule } from './deliveries/deliveries.module';
import { ApiExceptionFilter } from './plumbing/errors/api-exception.filter';
import { EventsModule } from './events/events.module';
import { HealthModule } from './plumbing/health/health.module';
import { MetricsModule } from './plumbing/metrics/metrics.module';
import { SourcesModule } from './sources/sources.module';
import { TryReceiversModule } from './try-receivers/try-receivers.module';
import { validationPipe } from './plumbing/validation/validation.pipe';
import { QueueModule } from './plumbing/queue/queue.module';
import { WebhooksModule } from './webhooks/webhooks.module';

/** The whole service. What applies to every route is set up here and not in a room. */
@Module({
  providers: [
    // In this order.
    { provide: APP_GUARD, useClass: BearerGuard },
    { provide: APP_GUARD, useClass: UserTurnsGuard },
    { provide: APP_FILTER, useClass: ApiExceptionFilter },
    { provide: APP_PIPE, useFactory: validationPipe },
  ],
})
export class AppModule {
  /** The service with these settings. */
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
        AboutModule,
        WebhooksModule,
        EventsModule,
        DeliveriesModule.forRoot(config),
        SourcesModule,
        TryReceiversModule,
      ],
    };
  }
}
