import Ajv2020 from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { EVENT_TYPES, type ObjectSchema } from './built-in-types';
import { EventCatalogue } from './event-catalogue';
import { EventValidator } from './event-validator';
import { messageOf } from './field-error';

const validator = new EventCatalogue({ extraEventTypes: [], eventMaxBytes: 1024 });

type Data = Record<string, unknown>;
/** One field of an event type's data: `path` locates its object, and `change` replaces the field in the example. */
interface Field {
  event: string;
  path: string;
  key: string;
  required: boolean;
  schema: Data;
  change: (replace: (object: Data) => Data) => Data;
}

function fieldsOf(event: string, schema: ObjectSchema, example: Data, path = 'data'): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]): Field[] => {
    const required = schema.required?.includes(key) ?? false;
    const field = {
      event,
      path,
      key,
      required,
      schema: property as Data,
      change: (r: (o: Data) => Data) => r(example),
    };
    const inner = fieldsOf(event, property as ObjectSchema, example[key] as Data, `${path}.${key}`);
    const lifted = inner.map((f) => ({ ...f, change: (r: (o: Data) => Data) => ({ ...example, [key]: f.change(r) }) }));
    return [field, ...lifted];
  });
}

const fields = EVENT_TYPES.flatMap(({ name, schema, example }) => fieldsOf(name, schema, example as Data));
const rows = (which: (field: Field) => boolean) =>
  fields.filter(which).map((field) => [field.event, `${field.path}.${field.key}`, field] as const);

const without = (key: string) => (object: Data) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
const withValue = (key: string, value: unknown) => (object: Data) => ({ ...object, [key]: value });

describe.each(EVENT_TYPES)('The example of $name', ({ name, example }) => {
  it('is valid', () => {
    expect(messageOf(validator.errorsOf(name, example))).toBe('');
  });

  it('is valid with additional keys', () => {
    expect(messageOf(validator.errorsOf(name, { ...example, resultOmitted: true, constructor: 1 }))).toBe('');
  });
});

describe('Data', () => {
  it.each(rows(({ required }) => required))('of %s without %s is invalid', (event, _, { path, key, change }) => {
    expect(messageOf(validator.errorsOf(event, change(without(key))))).toBe(
      `${path} must have required property '${key}'`,
    );
  });

  it.each(rows(({ required }) => !required))('of %s is valid without %s', (event, _, { key, change }) => {
    expect(messageOf(validator.errorsOf(event, change(without(key))))).toBe('');
  });

  it.each(rows(({ key }) => key !== 'result'))(
    'of %s with a list as the value of %s is invalid',
    (event, at, { key, change }) => {
      expect(messageOf(validator.errorsOf(event, change(withValue(key, []))))).toMatch(`${at} must be `);
    },
  );

  it.each(rows(({ key }) => key.endsWith('At')))('of %s accepts only times for %s', (event, at, { key, change }) => {
    for (const time of ['2026-01-15T09:30:00Z', '2026-01-15T10:30:00.123+01:00']) {
      expect(messageOf(validator.errorsOf(event, change(withValue(key, time))))).toBe('');
    }
    for (const time of ['yesterday', '', '2026-01-15', '2026-13-15T09:30:00Z', '2026-01-15T09:30:00', 1768469400]) {
      expect(messageOf(validator.errorsOf(event, change(withValue(key, time))))).toMatch(`${at} must `);
    }
  });

  it.each(rows(({ schema }) => [schema.type].flat().includes('integer')))(
    'of %s accepts only whole numbers from 0 for %s',
    (event, at, { key, change }) => {
      for (const count of [0, Number.MAX_SAFE_INTEGER]) {
        expect(messageOf(validator.errorsOf(event, change(withValue(key, count))))).toBe('');
      }
      for (const count of [-1, 1.5, '1']) {
        expect(messageOf(validator.errorsOf(event, change(withValue(key, count))))).toMatch(`${at} must `);
      }
    },
  );

  it.each([
    ['operation.complete', 'type startedAt finishedAt durationMs result'],
    ['operation.failed', 'type startedAt finishedAt durationMs attempts'],
    ['follower.gained', ''],
    ['follower.lost', ''],
    ['job.started', 'name attempt startedAt'],
    ['job.completed', 'name attempts startedAt completedAt durationMs result'],
    ['webhook.disabled', 'url'],
    ['webhook.failing', 'url code responseStatus disablesAt'],
    ['webhook.healthy', 'url'],
  ])('of %s may have null only for %p, when it is unknown or not there', (name, unknown) => {
    const nullable = fields.filter(
      ({ event, key, change }) =>
        event === name && messageOf(validator.errorsOf(event, change(withValue(key, null)))) === '',
    );
    expect(nullable.map(({ key }) => key).join(' ')).toBe(unknown);
  });

  it.each([null, {}, [], 1, 'done', true])('of operation.complete may have the result %p', (result) => {
    const { example } = EVENT_TYPES.find(({ name }) => name === 'operation.complete') ?? {};
    expect(messageOf(validator.errorsOf('operation.complete', { ...example, result }))).toBe('');
  });

  it('with a value outside an enum is rejected with the allowed values', () => {
    const { example } = EVENT_TYPES.find(({ name }) => name === 'webhook.disabled') ?? {};
    expect(messageOf(validator.errorsOf('webhook.disabled', { ...example, reason: 'bored' }))).toBe(
      'data.reason must be equal to one of the allowed values: failing, gone, idle',
    );
  });

  it.each(EVENT_TYPES)('of $name must be an object', ({ name }) => {
    for (const data of [null, [], 'text', 1])
      expect(messageOf(validator.errorsOf(name, data))).toBe('data must be object');
  });
});

describe('Validation', () => {
  const validator = new EventValidator();
  const schemaOf = (properties: Record<string, object>, more: object = {}): ObjectSchema => ({
    type: 'object',
    properties,
    ...more,
  });

  it('stops after ten errors, however many there are', () => {
    const item = { anyOf: Array.from({ length: 50 }, (_, i) => ({ const: `kind ${i}` })) };
    const schema = schemaOf({ list: { type: 'array', items: item } }, { additionalProperties: { type: 'string' } });
    const many = { list: Array.from({ length: 200_000 }, () => 0) };
    expect(messageOf(validator.errorsOf(schema, many)).split('; ')).toHaveLength(10);
    const errors = validator.compile(schema).errors ?? [];
    expect(errors.length).toBeLessThan(100);
    const keys = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`key ${i}`, i]));
    expect(messageOf(validator.errorsOf(schema, keys)).split('; ')).toHaveLength(10);
    expect(validator.compile(schema).errors?.length).toBeLessThan(100);
  });

  it.each([
    ['const', { const: { x: 1 } }, { valueOf: 1 }],
    ['enum', { enum: [{ x: 1 }, 1] }, { toString: 1 }],
    ['uniqueItems', { type: 'array', uniqueItems: true }, [{ valueOf: 1 }, { valueOf: 2 }]],
  ])('returns an error when %s compares objects with keys such as valueOf', (_, a, value) => {
    const schema = { type: 'object' as const, properties: { a } };
    expect(messageOf(new EventValidator().errorsOf(schema, { a: value }))).toMatch(/valueOf or toString/);
  });

  it('checks each alternative by itself, however many errors another one has had', () => {
    const listOf = (type: string) => ({ type: 'array', items: { type } });
    const map = { type: 'object', additionalProperties: { type: 'string' } };
    for (const keyword of ['anyOf', 'oneOf']) {
      const schema = schemaOf({ list: { [keyword]: [listOf('string'), listOf('boolean'), listOf('null')] } });
      const list = Array.from({ length: 20 }, (_, i) => i);
      expect(messageOf(validator.errorsOf(schema, { list }))).toContain('must be string');
      expect(messageOf(validator.errorsOf(schema, { list: list.map(() => true) }))).toBe('');
      const maps = schemaOf({ a: { [keyword]: [{ ...map, minProperties: 99 }, map, { type: 'null' }] } });
      const numbers = Object.fromEntries(list.map((i) => [`key ${i}`, i]));
      expect(messageOf(validator.errorsOf(maps, { a: numbers }))).toContain('must be string');
    }
  });

  const many = (count: number, make: (i: number) => unknown) => Array.from({ length: count }, (_, i) => make(i));
  const refs = (count: number) => many(count, () => ({ $ref: '#/$defs/a' }));
  const keys = (count: number, value: unknown) => Object.fromEntries(many(count, (i) => [`k${i}`, value]) as never);

  it.each<[string, object, unknown, object?]>([
    ['a long enum', { enum: many(2900, (i) => i) }, many(48_000, () => 2899)],
    ['references to an enum', { allOf: refs(40) }, many(48_000, () => 99), { enum: many(100, (i) => i) }],
    ['alternatives that fail', { anyOf: many(490, (i) => ({ const: i })) }, many(48_000, () => 489)],
    [
      'required names',
      { anyOf: [...refs(160), { type: 'object' }] },
      many(8000, () => ({})),
      { required: many(199, String) },
    ],
    [
      'required names below a quoted one',
      { anyOf: [...refs(120), { type: 'object' }] },
      many(8000, () => ({ 'a b': {} })),
      { properties: { 'a b': { required: many(1500, String) } } },
    ],
    [
      'properties that must be absent',
      { anyOf: [...refs(20), { type: 'object' }] },
      many(8000, () => ({ k0: 1 })),
      { properties: keys(100, false) },
    ],
    [
      'large constants',
      { anyOf: [...refs(100), { type: 'object' }] },
      many(20_000, () => ({})),
      { const: keys(300, 0) },
    ],
    ['the number of properties', { allOf: many(490, () => ({ maxProperties: 9000 })) }, [keys(8000, 0)]],
    [
      'objects compared with a large one',
      { anyOf: [...many(240, () => ({ const: {} })), { type: 'object' }] },
      [keys(8000, 0)],
    ],
    ['formats', { allOf: many(490, () => ({ format: 'date-time' })) }, many(4000, () => '2026-01-15T09:30:00Z')],
    ['lengths', { allOf: many(490, () => ({ maxLength: 99_000 })) }, ['x'.repeat(98_000)]],
  ])('with a limit stops early, whatever takes the time: %s', (_, items, a, definition = {}) => {
    const schema = schemaOf({ a: { type: 'array', items } }, { $defs: { a: definition } });
    validator.compile(schema);
    const before = process.cpuUsage();
    expect(messageOf(validator.errorsOf(schema, { a }, true))).toMatch(/^data has too many values for its schema/);
    // Microseconds of a core, which others may take away meanwhile.
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
  });

  it('with a limit accepts the data of ordinary schemas', () => {
    const codes = many(260, (i) => `code ${i}`);
    const line = { type: 'object', required: ['a', 'b', 'c'], properties: keys(3, { enum: codes }) };
    const lines = many(2200, (i) => ({ a: 1, b: 2, c: 3, ...keys(3, codes[Number(i) % 260]) }));
    const schema = schemaOf({ lines: { type: 'array', items: line } });
    expect(messageOf(validator.errorsOf(schema, { lines }, true))).toBe('');
    const measured = schemaOf({ values: { type: 'array', items: { type: 'number', minimum: 0 } } });
    expect(messageOf(validator.errorsOf(measured, { values: many(300_000, Number) }, true))).toBe('');
  });

  it('keeps names that look like the code of a loop', () => {
    const schema = schemaOf({ 'for(let i0=0; i0<len0; i0++){': { type: 'string' } }, { additionalProperties: false });
    expect(messageOf(validator.errorsOf(schema, { 'for(let i0=0; i0<len0; i0++){': 'x' }))).toBe('');
    expect(validator.errorsOf(schema, { other: 'x' })).toEqual([
      { field: 'data.other', code: 'unknown_field', message: 'data must NOT have additional properties' },
    ]);
  });

  it('returns for any data the errors that Ajv returns without a limit of ten', () => {
    const leaf = fc.constantFrom<object>(
      { type: 'string', maxLength: 2 },
      { type: 'integer', minimum: 3 },
      { const: 'a' },
      { enum: [1, 'b', null] },
    );
    const { schema } = fc.letrec<{ schema: object }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        tie('schema').map((items) => ({ type: 'array', items, minItems: 1 })),
        fc
          .tuple(tie('schema'), tie('schema'))
          .map(([a, additionalProperties]) => ({ type: 'object', properties: { a }, additionalProperties })),
        fc
          .tuple(fc.constantFrom('oneOf', 'anyOf', 'allOf'), fc.array(tie('schema'), { minLength: 1, maxLength: 3 }))
          .map(([keyword, schemas]) => ({ [keyword]: schemas })),
      ),
    }));
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        fc.constantFrom(1, 4, 'a', 'b', 'long', null),
        fc.array(tie('value'), { maxLength: 3 }),
        // Many of a kind produce more than ten errors.
        fc.tuple(tie('value'), tie('value')).map(([a, b]) => [...Array<unknown>(15).fill(a), b]),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
      ),
    })).value;
    fc.assert(
      fc.property(schema, fc.array(value, { maxLength: 25 }), (items, list) => {
        const whole = schemaOf({ list: { type: 'array', items } });
        const plain = new Ajv2020({ strict: false, allErrors: true }).compile(structuredClone(whole));
        expect(messageOf(validator.errorsOf(whole, { list })) === '').toBe(plain({ list }));
      }),
      { numRuns: 60 },
    );
  });
});
