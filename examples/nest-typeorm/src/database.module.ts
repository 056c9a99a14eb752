import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CreateOrders1760000000000 } from './create-orders.migration.js';
import { Item } from './item.entity.js';
import { Order } from './order.entity.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL ?? '',
      entities: [Item, Order],
      migrations: [CreateOrders1760000000000],
      migrationsRun: true,
    }),
  ],
})
export class DatabaseModule {}
