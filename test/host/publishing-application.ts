import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Pool } from 'pg';
import { defineEvent } from 'webhook-notification';
import { database, EventsService, http, WebhookNotificationModule } from 'webhook-notification/nest';

const { DATABASE_URL, SERVICE_URL, SERVICE_TOKEN, FIRST, COUNT } = process.env;

const OrderPaid = defineEvent({
  name: 'order.paid',
  description: 'An order was paid.',
  schema: { type: 'object', required: ['orderId'], properties: { orderId: { type: 'integer' } } },
  example: { orderId: 42 },
});
const pool = new Pool({ connectionString: DATABASE_URL, max: 4 });
const transport =
  SERVICE_URL === undefined
    ? database({ connection: pool })
    : http({ url: SERVICE_URL, token: SERVICE_TOKEN ?? '', outbox: { connection: pool } });

@Module({
  imports: [WebhookNotificationModule.forRoot({ application: 'shop', events: [OrderPaid], transport })],
})
class ShopModule {}

/** Pays one order after the other, each in a transaction with its event, until somebody ends it; with COUNT so many. */
async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(ShopModule, { logger: ['error'] });
  const events = app.get(EventsService);
  process.stdout.write('ready\n');
  setInterval(() => undefined, 1000);
  const end = Number(FIRST) + Number(COUNT ?? Infinity);
  for (let orderId = Number(FIRST); orderId < end; orderId++) {
    const client = await pool.connect();
    await client.query('begin');
    await client.query('insert into orders (id) values ($1)', [orderId]);
    await events.publish(OrderPaid, { orderId }, { userId: 'alice', tx: client });
    await client.query('commit');
    client.release();
    process.stdout.write('paid\n');
  }
}

void main();
