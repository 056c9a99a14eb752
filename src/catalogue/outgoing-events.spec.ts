import { EVENT_TYPES, type KnownEventType } from 'webhook-notification/catalogue';
import { declaredEvents, outgoingEvents } from './outgoing-events';

const typeOf = (name: string, schema: object = {}): KnownEventType => ({
  ...{ name, description: 'It happened.', example: { secret: 1 } },
  ...{ schema: { type: 'object' as const, ...schema }, source: 'api' as const, application: null },
});

describe('outgoingEvents', () => {
  it('needs no components, because no built-in schema has references', () => {
    expect(
      JSON.stringify(outgoingEvents(EVENT_TYPES.map((type) => ({ ...typeOf(type.name), ...type })))),
    ).not.toContain('$ref');
  });
});

describe('declaredEvents', () => {
  const MONEY = { properties: { price: { $ref: '#/$defs/money' } }, $defs: { money: { type: 'integer' } } };

  it('has headers and definitions as components, and no examples', () => {
    const { webhooks, components, leftOut } = declaredEvents([typeOf('invoice.paid', MONEY)]);
    expect(Object.keys(components.schemas)).toEqual(['invoice.paid-money']);
    expect(JSON.stringify(webhooks)).toContain('{"$ref":"#/components/schemas/invoice.paid-money"}');
    expect(JSON.stringify(webhooks)).not.toMatch(/example|secret/);
    const { parameters } = (webhooks['invoice.paid'] as { post: { parameters: { $ref: string }[] } }).post;
    expect(parameters.map(({ $ref }) => $ref.replace('#/components/parameters/', ''))).toEqual(
      Object.keys(components.parameters),
    );
    expect(leftOut).toBe(0);
  });

  it('adds at most 1 MiB: leaves out the first type beyond it and all after that', () => {
    const large = { properties: { kind: { enum: ['é'.repeat(8000)] } } };
    const types = Array.from({ length: 500 }, (_, i) => typeOf(`large.kind_${i}`, large));
    const { webhooks, components, leftOut } = declaredEvents([...types, typeOf('small.kind')]);
    const names = Object.keys(webhooks);
    expect(names).toEqual(types.slice(0, names.length).map(({ name }) => name));
    expect(leftOut).toBe(501 - names.length);
    const bytes = Buffer.byteLength(JSON.stringify(webhooks)) + Buffer.byteLength(JSON.stringify(components));
    expect(bytes).toBeLessThanOrEqual(1024 * 1024);
    expect(bytes).toBeGreaterThan(1024 * 1024 - 20_000);
  });

  it('has an id for each type that no other has, in any case, and names without - first keep theirs', () => {
    const names = [
      'order-paid',
      'Order.Paid',
      'order.paid',
      'order_paid',
      'ORDERPAID',
      '_',
      '-',
      'follower-gained',
      'x',
    ];
    const { webhooks } = declaredEvents(names.map((name) => typeOf(name)));
    const ids = names.map((name) => (webhooks[name] as { post: { operationId: string } }).post.operationId);
    expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(names.length);
    expect(ids.every((id) => /^on\w*$/.test(id))).toBe(true);
    expect([ids[2], ids[7], ids[8]]).toEqual(['onOrderPaid', 'onFollowerGained_2', 'onX']);
  });

  it('contains all of 500 simple types', () => {
    const types = Array.from({ length: 500 }, (_, i) => typeOf(`shop.${'x'.repeat(60)}_${i}`, MONEY));
    expect(declaredEvents(types).leftOut).toBe(0);
  });
});
