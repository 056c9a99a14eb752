import { z } from 'zod';
import { defineEvent, type EventDefinition } from './define-event';
import { EventCatalogue } from './event-catalogue';
import { messageOf } from './field-error';

type DataIn<Event> = Event extends EventDefinition<string, infer Data> ? Data : never;
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only when the two types are the same. */
const same = <A, B>(_is: Same<A, B>): void => undefined;

const OrderPaid = defineEvent({
  name: 'order.paid',
  description: 'An order was paid.',
  schema: {
    type: 'object',
    required: ['id', 'cents', 'by'],
    properties: {
      id: { type: 'string', format: 'uuid' },
      cents: { type: 'integer', minimum: 0 },
      by: { oneOf: [{ const: 'card' }, { type: 'null' }] },
      tags: { type: 'array', items: { enum: ['new', 'gift'] } },
      address: { type: ['object', 'null'], properties: { city: { type: 'string' } } },
      anything: {},
    },
  },
  example: { id: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90', cents: 4900, by: 'card' },
});

const OrderSent = defineEvent({
  name: 'order.sent',
  description: 'An order was sent.',
  schema: z.object({ id: z.string().regex(/^o-/), parcels: z.int().optional() }),
  example: { id: 'o-1', parcels: 2 },
});

describe('A defined event', () => {
  it('has the type of its JSON Schema', () => {
    same<
      DataIn<typeof OrderPaid>,
      {
        id: string;
        cents: number;
        by: 'card' | null;
        tags?: ('new' | 'gift')[];
        address?: { city?: string } | null;
        anything?: unknown;
      }
    >(true);
    same<(typeof OrderPaid)['name'], 'order.paid'>(true);
  });

  it('has the type of its zod schema', () => {
    same<DataIn<typeof OrderSent>, { id: string; parcels?: number | undefined }>(true);
    expect(OrderSent.schema).toMatchObject({ type: 'object', required: ['id'] });
  });

  it('is registered in one step, and its data is validated against the whole schema', () => {
    const catalogue = new EventCatalogue({ extraEventTypes: [], eventMaxBytes: 1024 });
    for (const event of [OrderPaid, OrderSent]) catalogue.register(event);
    expect(messageOf(catalogue.errorsOf('order.sent', { id: 'x-1' }))).toContain('must match pattern');
    expect(messageOf(catalogue.errorsOf('order.paid', OrderPaid.example))).toBe('');
  });

  it('does not compile with an invalid example', () => {
    const description = 'An order was paid.';
    const schema = { type: 'object', required: ['cents'], properties: { cents: { type: 'integer' } } } as const;
    // @ts-expect-error: cents is a number
    defineEvent({ name: 'order.paid', description, schema, example: { cents: '1' } });
    // @ts-expect-error: cents is missing
    defineEvent({ name: 'order.paid', description, schema, example: {} });
    // @ts-expect-error: id is missing
    defineEvent({ name: 'order.sent', description, schema: z.object({ id: z.string() }), example: {} });
  });

  it.each<[string, string, object]>([
    ['or der', 'is no event name', { type: 'object' }],
    ['webhook.sent', 'is reserved', { type: 'object' }],
    ['job.started', 'is built in', { type: 'object' }],
    ['order.paid', 'not that of an object', { type: 'array' }],
    ['order.paid', 'not that of an object', z.array(z.string())],
  ])('is rejected with the name %s: "%s"', (name, problem, schema) => {
    const define = () => defineEvent({ name, description: 'x', schema: schema as { type: 'object' }, example: {} });
    expect(define).toThrow(problem);
    expect(define).toThrow(TypeError);
  });
});
