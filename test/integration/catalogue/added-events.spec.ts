import { Injectable, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AddedEventType } from 'webhook-notification/catalogue';
import { EventsModule } from '../../../src/events/events.module';
import { EventsService } from '../../../src/events/events.service';
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

@Injectable()
class InvoicesService {
  constructor(private readonly events: EventsService) {}

  pay(cents: number) {
    return this.events.publish('invoice.paid', { cents }, { userId: 'alice' });
  }

  async wrongly(): Promise<void> {
    // @ts-expect-error: cents is a number
    await this.events.publish('invoice.paid', { cents: '4900' });
    // @ts-expect-error: cents is missing
    await this.events.publish('invoice.paid', {});
    // @ts-expect-error: nobody has declared it
    await this.events.publish('invoice.lost', { cents: 1 });
    // @ts-expect-error: the example does not fit the declaration
    EventsModule.forFeature([{ ...INVOICE_PAID, name: 'invoice.paid', example: { cents: 'x' } }]);
  }
}

@Module({ imports: [EventsModule.forFeature([INVOICE_PAID])], providers: [InvoicesService] })
class InvoicesModule {}

const otherModule = (type: AddedEventType) => {
  @Module({ imports: [EventsModule.forFeature([type])] })
  class OtherModule {}
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

  it('holds its data to its schema, and to its types', async () => {
    await expect(app.get(InvoicesService).pay(1.5)).rejects.toThrow('data.cents must be integer');
    await expect(app.get(InvoicesService).wrongly()).rejects.toThrow('data.cents must be integer');
  });

  it.each<[string, AddedEventType, RegExp]>([
    ['an example that does not fit', { ...INVOICE_PAID, example: { cents: 0.5 } }, /example does not fit its schema/],
    [
      'a schema that is none',
      { ...INVOICE_PAID, schema: { type: 'object', required: 'cents' as never } },
      /not a valid JSON Schema/,
    ],
  ])('does not start with %s', async (_, type, sentence) => {
    await expect(startApplication(database.url, [otherModule(type)])).rejects.toThrow(sentence);
  });

  it('does not start when another module means something else by the name', async () => {
    const other = otherModule({ ...INVOICE_PAID, description: 'Something else.' });
    await expect(startApplication(database.url, [InvoicesModule, other])).rejects.toThrow(
      /another module has registered/,
    );
  });
});
