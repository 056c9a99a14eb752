import { Injectable, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { defineEvent } from 'webhook-notification';
import { type AddedEventType, EventCatalogue } from 'webhook-notification/catalogue';
import { CatalogueModule } from '../../../src/catalogue/catalogue.module';
import { EventTypesService } from '../../../src/catalogue/requests/event-types.service';
import { EventsModule } from '../../../src/events/events.module';
import { SweeperService } from '../../../src/deliveries/sweeping/sweeper.service';
import { EventsService, type PublishOptions } from '../../../src/events/events.service';
import { WebhooksService } from '../../../src/webhooks/webhooks.service';
import { startApplication, stopApplication } from '../stage/application';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';

declare module 'webhook-notification' {
  interface EventPayloads {
    'invoice.paid': { cents: number };
  }
}

const INVOICE_PAID: AddedEventType = {
  name: 'invoice.paid',
  description: 'An invoice was paid.',
  schema: { type: 'object', required: ['cents'], properties: { cents: { type: 'integer' } } },
  example: { cents: 4900 },
};

const OrderPaid = defineEvent({
  name: 'shop.order_paid',
  description: 'An order was paid.',
  schema: { type: 'object', required: ['orderId'], properties: { orderId: { type: 'string' } } },
  example: { orderId: '42' },
});

@Injectable()
class InvoicesService {
  constructor(private readonly events: EventsService) {}

  pay(cents: number) {
    return this.events.publish('invoice.paid', { cents }, { userId: 'alice' });
  }

  order(orderId: string, options: Omit<PublishOptions, 'userId'>) {
    return this.events.publish(OrderPaid, { orderId }, { userId: 'alice', ...options });
  }

  async wrongly(): Promise<void> {
    // @ts-expect-error: orderId is a string
    await this.events.publish(OrderPaid, { orderId: 1 }, { userId: 'alice' }).catch(() => undefined);
    // @ts-expect-error: cents is a number
    await this.events.publish('invoice.paid', { cents: '4900' }, { userId: 'alice' });
    // @ts-expect-error: cents is missing
    await this.events.publish('invoice.paid', {}, { userId: 'alice' });
    // @ts-expect-error: the event is not declared
    await this.events.publish('invoice.lost', { cents: 1 }, { userId: 'alice' });
    // @ts-expect-error: the example does not match the declaration
    ({ ...INVOICE_PAID, name: 'invoice.paid', example: { cents: 'x' } }) satisfies AddedEventType;
  }
}

@Module({ imports: [CatalogueModule, EventsModule], providers: [InvoicesService] })
class InvoicesModule {
  constructor(catalogue: EventCatalogue) {
    for (const type of [INVOICE_PAID, OrderPaid]) catalogue.register(type);
  }
}

const otherModule = (type: AddedEventType) => {
  @Module({ imports: [CatalogueModule] })
  class OtherModule {
    constructor(catalogue: EventCatalogue) {
      catalogue.register(type);
    }
  }
  return OtherModule;
};

describe('A module that adds an event', () => {
  const receiver = useReceiver();
  let database: TestDatabase;
  let app: NestFastifyApplication;

  beforeAll(async () => {
    database = await cloneDatabase();
    app = await startApplication(database.url, [InvoicesModule, otherModule(INVOICE_PAID)]);
  });
  afterAll(async () => {
    await stopApplication(app);
    await database.drop();
  });

  it('publishes it to the webhooks that subscribe to its name or prefix', async () => {
    const hook = receiver.hook();
    await app.get(WebhooksService).create('alice', { url: hook.url, events: ['invoice.*'] });
    await app.get(InvoicesService).pay(4900);
    const [call] = await hook.received(1);
    expect(JSON.parse(String(call?.body))).toMatchObject({ event: 'invoice.paid', data: { cents: 4900 } });
  });

  it('publishes a defined event in a TypeORM or pg transaction', async () => {
    const hook = receiver.hook();
    await app.get(WebhooksService).create('alice', { url: hook.url, events: ['shop.*'] });
    const invoices = app.get(InvoicesService);
    await app.get(DataSource).transaction((tx) => invoices.order('1', { tx }));
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query('begin');
    const published = await invoices.order('2', { tx: client, idempotencyKey: 'the second' });
    const again = await invoices.order('2', { tx: client, idempotencyKey: 'the second' });
    expect(again).toEqual({ ...published, duplicate: true });
    await expect(invoices.order('3', { tx: client, idempotencyKey: 'the second' })).rejects.toMatchObject({
      status: 409,
    });
    await client.query('commit');
    await client.query('begin');
    await invoices.order('4', { tx: client });
    await client.query('rollback');
    await client.end();
    await app.get(SweeperService).sweep();
    const calls = await hook.received(2);
    const bodies = calls.map(({ body }) => JSON.parse(String(body)) as { id: string; data: { orderId: string } });
    expect(bodies.map(({ data }) => data.orderId).sort()).toEqual(['1', '2']);
    expect(bodies.map(({ id }) => id)).toContain(published.id);
  });

  it('stores it for all processes, and not even an operator can change or delete it', async () => {
    const rows = await database.query('select name, application from webhook_service.event_types order by name');
    expect(rows).toEqual([
      { name: 'invoice.paid', application: 'service' },
      { name: 'shop.order_paid', application: 'service' },
    ]);
    const types = app.get(EventTypesService);
    const operator = { userId: 'root', scopes: ['users:manage' as const] };
    const changed = { ...INVOICE_PAID, description: 'Else.', application: 'service' };
    await expect(types.save(operator, changed, true)).rejects.toMatchObject({ status: 409 });
    await expect(types.remove(operator, 'invoice.paid', 'service')).rejects.toMatchObject({ status: 409 });
  });

  it('does not start when another application has declared its name', async () => {
    const other = await cloneDatabase();
    await other.query(
      `insert into webhook_service.event_types (name, description, schema, example, application)
       values ('invoice.paid', 'Paid.', '{"type":"object"}', '{}', 'shop')`,
    );
    await expect(startApplication(other.url, [InvoicesModule])).rejects.toThrow(
      'The event invoice.paid cannot be declared: the application shop has it.',
    );
    await other.drop();
  });

  it('validates its data against its schema, and type-checks it', async () => {
    await expect(app.get(InvoicesService).pay(1.5)).rejects.toThrow('data.cents must be integer');
    await expect(app.get(InvoicesService).wrongly()).rejects.toThrow('data.cents must be integer');
  });

  it.each<[string, AddedEventType, RegExp]>([
    ['an invalid example', { ...INVOICE_PAID, example: { cents: 0.5 } }, /example does not fit its schema/],
    [
      'an invalid schema',
      { ...INVOICE_PAID, schema: { type: 'object', required: 'cents' as never } },
      /not a valid JSON Schema/,
    ],
  ])('does not start with %s', async (_, type, message) => {
    await expect(startApplication(database.url, [otherModule(type)])).rejects.toThrow(message);
  });

  it('does not start when another module declares the name differently', async () => {
    const other = otherModule({ ...INVOICE_PAID, description: 'Something else.' });
    await expect(startApplication(database.url, [InvoicesModule, other])).rejects.toThrow(
      /another module has registered/,
    );
  });
});
