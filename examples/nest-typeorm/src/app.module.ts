import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { database, WebhookNotificationModule } from 'webhook-notification/nest';
import { DatabaseModule } from './database.module.js';
import { OrderPaid } from './order-events.js';
import { OrdersModule } from './orders.module.js';

@Module({
  imports: [
    DatabaseModule,
    WebhookNotificationModule.forRootAsync({
      inject: [DataSource],
      useFactory: (connection: DataSource) => ({
        application: 'example-nest-typeorm',
        events: [OrderPaid],
        transport: database({ connection }),
      }),
    }),
    OrdersModule,
  ],
})
export class AppModule {}
