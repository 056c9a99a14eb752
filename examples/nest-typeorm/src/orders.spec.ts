import 'reflect-metadata';
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { TestingEventsService, WebhookNotificationTestingModule } from 'webhook-notification/testing';
import { DatabaseModule } from './database.module.js';
import { OrderPaid } from './order-events.js';
import { OrdersModule } from './orders.module.js';
import { OrdersService } from './orders.service.js';

describe('Paying an order', () => {
  let app: INestApplicationContext;
  let orders: OrdersService;
  let events: TestingEventsService;

  before(async () => {
    const testing = WebhookNotificationTestingModule.forRootAsync({
      inject: [DataSource],
      useFactory: (connection: DataSource) => ({ events: [OrderPaid], connection }),
    });
    app = await Test.createTestingModule({ imports: [DatabaseModule, testing, OrdersModule] }).compile();
    await app.init();
    orders = app.get(OrdersService);
    events = app.get(TestingEventsService);
  });
  after(() => app.close());
  beforeEach(() => events.clear());

  it('publishes its event to the customer', async () => {
    const { id } = await orders.place('alice', 'tea');
    await orders.pay(id);
    const { userId, data } = await events.single(OrderPaid);
    assert.equal(userId, 'alice');
    assert.deepEqual(data, { orderId: id, item: 'tea' });
  });

  it('publishes nothing when it is rolled back', async () => {
    const { id } = await orders.place('alice', 'first edition');
    await assert.rejects(orders.pay(id), /sold out/);
    assert.deepEqual(await events.published(), []);
  });
});
