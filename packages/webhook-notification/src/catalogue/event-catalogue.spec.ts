import { EVENT_TYPES, type EventType, TEST_EVENT_TYPE } from './built-in-types';
import { EventCatalogue, type KnownEventType } from './event-catalogue';
import { messageOf } from './field-error';

const paid: EventType = {
  name: 'invoice.paid',
  description: 'An invoice was paid.',
  schema: { type: 'object', required: ['cents'], properties: { cents: { type: 'integer' } } },
  example: { cents: 4900 },
};
const builtIn = { source: 'builtin', application: null };
const BUILT_IN = EVENT_TYPES.map((type) => ({ ...type, ...builtIn }));
const catalogueOf = (...extraEventTypes: string[]) => new EventCatalogue({ extraEventTypes, eventMaxBytes: 1024 });
const registering = (type: EventType, catalogue = catalogueOf()) => {
  return () => catalogue.register(type);
};

describe('The catalogue of a process', () => {
  it('contains the built-in events, and test deliveries only for receivers', () => {
    expect(catalogueOf().subscribable).toEqual(BUILT_IN);
    expect(catalogueOf().all).toEqual([...BUILT_IN, { ...TEST_EVENT_TYPE, ...builtIn }]);
    expect(catalogueOf().find('webhook.test')).toBeUndefined();
  });

  it('allows publishing all events except reserved ones', () => {
    const { publishableNames, subscribableNames } = catalogueOf('a.b');
    expect(subscribableNames.filter((name) => !publishableNames.includes(name))).toEqual([
      'webhook.disabled',
      'webhook.failing',
      'webhook.healthy',
    ]);
  });

  it('accepts any object for a name that the operator added', () => {
    const catalogue = catalogueOf('invoice.paid');
    expect(catalogue.find('invoice.paid')).toMatchObject({ schema: { type: 'object' }, example: {} });
    expect(messageOf(catalogue.errorsOf('invoice.paid', { whatever: [1] }))).toBe('');
  });

  it('validates data against the schema of a module, even for a name that the operator added', () => {
    for (const catalogue of [catalogueOf(), catalogueOf('invoice.paid')]) {
      catalogue.register(paid);
      expect(catalogue.find('invoice.paid')).toEqual({ ...paid, source: 'module', application: null });
      expect(catalogue.subscribableNames.filter((name) => name === 'invoice.paid')).toHaveLength(1);
      expect(messageOf(catalogue.errorsOf('invoice.paid', paid.example))).toBe('');
      expect(messageOf(catalogue.errorsOf('invoice.paid', { cents: 'x' }))).toBe('data.cents must be integer');
    }
  });

  it('accepts the same type twice, but no other type with its name', () => {
    const catalogue = catalogueOf();
    catalogue.register(paid);
    expect(registering(JSON.parse(JSON.stringify(paid)) as EventType, catalogue)).not.toThrow();
    for (const other of [
      { description: 'Else.' },
      { example: { cents: 1 } },
      { schema: { type: 'object' as const } },
    ]) {
      expect(registering({ ...paid, ...other }, catalogue)).toThrow(
        'The event "invoice.paid" cannot be registered: another module has registered that name',
      );
    }
  });

  it('accepts schemas of different modules with the same $id', () => {
    const catalogue = catalogueOf();
    const schema = { ...paid.schema, $id: 'https://example.com/data' };
    catalogue.register({ ...paid, schema });
    expect(registering({ ...paid, name: 'invoice.sent', schema }, catalogue)).not.toThrow();
  });

  it.each<[string, Partial<EventType>, RegExp]>([
    ['an invalid name', { name: 'pa id' }, /^The event "pa id" .*: the name is no event name/],
    ['a reserved name', { name: 'webhook.sent' }, /the name is reserved/],
    ['a built-in name', { name: 'job.started' }, /the name is built in already/],
    ['a built-in name in another case', { name: 'Job.started' }, /it differs from job.started only in case/],
    [
      'an example that does not match its schema',
      { example: { cents: 'x' } },
      /example does not fit its schema: data.cents must be/,
    ],
    ['an example that JSON cannot represent', { example: { cents: 1, at: NaN } }, /example does not fit.*finite/],
  ])('rejects %s and names the reason', (_, wrong, message) => {
    const catalogue = catalogueOf();
    expect(registering({ ...paid, ...wrong }, catalogue)).toThrow(message);
    expect(catalogue.subscribable).toEqual(BUILT_IN);
  });
});

describe('Stored event types', () => {
  const stored = (name: string, application: string | null = null): KnownEventType => ({
    ...{ ...paid, name },
    ...{ source: application === null ? 'api' : 'module', application },
  });

  it('are known until they are removed', () => {
    const catalogue = catalogueOf();
    catalogue.replaceStored([stored('shop.opened'), stored('invoice.paid', 'shop')]);
    expect(catalogue.find('invoice.paid')).toMatchObject({ source: 'module', application: 'shop' });
    expect(messageOf(catalogue.errorsOf('shop.opened', { cents: 'x' }))).toBe('data.cents must be integer');
    catalogue.replaceStored([stored('invoice.paid', 'shop')]);
    expect(catalogue.find('shop.opened')).toBeUndefined();
    expect(messageOf(catalogue.errorsOf('shop.opened', {}))).toBe('');
  });

  it('are validated with up to a million checks, and types of modules without a limit', () => {
    const items = { anyOf: Array.from({ length: 150 }, (_, i) => ({ const: i })) };
    const codes: EventType = {
      ...paid,
      schema: { type: 'object', properties: { codes: { type: 'array', items } } },
      example: {},
    };
    const data = { codes: Array(20_000).fill(149) };
    const catalogue = catalogueOf();
    catalogue.replaceStored([{ ...codes, source: 'api', application: null }]);
    expect(messageOf(catalogue.errorsOf(codes.name, { codes: Array(2000).fill(149) }))).toBe('');
    expect(messageOf(catalogue.errorsOf(codes.name, data))).toBe(
      'data has too many values for its schema: validation stops at a million checks',
    );
    catalogue.register(codes);
    expect(messageOf(catalogue.errorsOf(codes.name, data))).toBe('');
  });

  it('accept no data when repeated references make their schema too large to compile', () => {
    const $defs = { E: { enum: Array.from({ length: 2900 }, (_, i) => i) } };
    const uses = (count: number) => ({
      ...{ type: 'object' as const, $defs },
      properties: { a: { type: 'array', items: { allOf: Array(count).fill({ $ref: '#/$defs/E' }) } } },
    });
    const catalogue = catalogueOf();
    const validate = (count: number) => {
      catalogue.replaceStored([{ ...paid, schema: uses(count), source: 'api', application: null }]);
      return messageOf(catalogue.errorsOf(paid.name, { a: [2899] }));
    };
    expect(validate(3)).toBe('');
    expect(validate(40)).toBe('data cannot be validated: the schema of invoice.paid is too large');
  });

  it('override names that the operator added, but not types that are built in or of modules', () => {
    const catalogue = catalogueOf('shop.opened', 'shop.closed');
    catalogue.register(paid);
    catalogue.replaceStored([stored('shop.opened'), stored('invoice.paid', 'shop'), stored('job.started')]);
    const sourceOf = (name: string) => catalogue.find(name)?.source;
    expect(['shop.opened', 'shop.closed', 'job.started'].map(sourceOf)).toEqual(['api', 'setting', 'builtin']);
    expect(catalogue.find('invoice.paid')).toMatchObject({ source: 'module', application: null });
    expect(catalogue.namedTwice).toEqual(['shop.opened']);
    expect(catalogue.subscribableNames.filter((name) => name === 'shop.opened')).toHaveLength(1);
    expect(catalogue.findOwn('shop.opened')).toMatchObject({ source: 'setting' });
  });
});
