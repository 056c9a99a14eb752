import { Module } from '@nestjs/common';
import { fromDrizzle, http, WebhookNotificationModule } from 'webhook-notification/nest';
import { Database } from './database.js';
import { DatabaseModule } from './database.module.js';
import { OrderPaid } from './order-events.js';
import { OrdersModule } from './orders.module.js';

@Module({
  imports: [
    DatabaseModule,
    WebhookNotificationModule.forRootAsync({
      inject: [Database],
      useFactory: ({ orm }: Database) => ({
        application: 'example-nest-drizzle',
        events: [OrderPaid],
        transport: http({
          url: process.env.WEBHOOKS_URL ?? 'http://127.0.0.1:3000',
          token: process.env.WEBHOOKS_TOKEN ?? '',
          outbox: { connection: fromDrizzle(orm) },
        }),
      }),
    }),
    OrdersModule,
  ],
})
export class AppModule {}
