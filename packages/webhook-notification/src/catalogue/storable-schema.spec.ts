import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { z } from 'zod';
import type { ObjectSchema } from './built-in-types';
import { schemaProblem } from './schema-rules';
import { storableSchema } from './storable-schema';

const fits = (schema: object, data: unknown) =>
  addFormats(new Ajv2020({ strict: false, logger: false })).compile(schema)(data) as boolean;
const objectOf = (properties: Record<string, unknown>, more: object = {}): ObjectSchema => ({
  type: 'object',
  properties,
  ...more,
});

describe('The stored part of a schema', () => {
  it('is the schema itself when the service accepts it', () => {
    const schema = objectOf({ a: { oneOf: [{ const: 1 }, { $ref: '#/$defs/b' }] } }, { $defs: { b: { minimum: 2 } } });
    expect(storableSchema(schema)).toEqual(schema);
  });

  it.each<[string, ObjectSchema, object]>([
    ['patterns', objectOf({ a: { type: 'string', pattern: '^x' } }), objectOf({ a: { type: 'string' } })],
    ['other formats', objectOf({ a: { format: 'regex', minLength: 1 } }), objectOf({ a: { minLength: 1 } })],
    ['annotations', objectOf({ a: { title: 'A', $comment: 'x', type: 'null' } }), objectOf({ a: { type: 'null' } })],
    [
      'items next to prefixItems',
      objectOf({ a: { prefixItems: [{ const: 1 }], items: false, maxItems: 2 } }),
      objectOf({ a: { maxItems: 2 } }),
    ],
    [
      'additionalProperties next to patternProperties',
      objectOf({}, { patternProperties: { '^x': {} }, additionalProperties: false }),
      objectOf({}),
    ],
    [
      'the exclusiveness of oneOf alternatives that it has to loosen',
      objectOf({ a: { oneOf: [{ pattern: 'a' }, { pattern: 'b' }] } }),
      objectOf({ a: { anyOf: [{}, {}] } }),
    ],
    [
      'recursive references',
      objectOf({ kids: { type: 'array', items: { $ref: '#' } } }),
      objectOf({ kids: { type: 'array', items: {} } }),
    ],
    [
      'enums that are too long',
      objectOf({ a: { $ref: '#/$defs/b' } }, { $defs: { b: { type: 'integer', enum: Array(600).fill(1) } } }),
      objectOf({ a: { $ref: '#/$defs/b' } }, { $defs: { b: { type: 'integer' } } }),
    ],
    [
      'keywords beyond the limit',
      objectOf(Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`p${i}`, { type: 'null' }]))),
      { type: 'object' },
    ],
  ])('omits %s', (_, schema, stored) => expect(storableSchema(schema)).toEqual(stored));

  it('of a zod schema is accepted by the service, and accepts the data that zod accepts', () => {
    const Order = z.object({
      id: z.uuid(),
      email: z.email(),
      lines: z.array(z.object({ sku: z.string().regex(/^[A-Z]+$/), count: z.int().positive() })).min(1),
      by: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('card'), last4: z.string().length(4) }),
        z.object({ kind: z.literal('cash') }),
      ]),
      prices: z.record(z.string(), z.number()),
    });
    const whole = z.toJSONSchema(Order, { io: 'input' }) as unknown as ObjectSchema;
    expect(schemaProblem(whole)).not.toBeNull();
    const stored = storableSchema(whole);
    expect(schemaProblem(stored)).toBeNull();
    const order = {
      id: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90',
      email: 'ada@example.com',
      lines: [{ sku: 'ABC', count: 1 }],
      by: { kind: 'cash' },
      prices: { total: 5 },
    };
    expect([fits(whole, order), fits(stored, order)]).toEqual([true, true]);
    expect(
      [
        { ...order, lines: [] },
        { ...order, by: { kind: 'card' } },
      ].map((data) => fits(stored, data)),
    ).toEqual([false, false]);
    expect([
      fits(whole, { ...order, lines: [{ sku: 'abc', count: 1 }] }),
      fits(stored, { ...order, lines: [{ sku: 'abc', count: 1 }] }),
    ]).toEqual([false, true]);
  });

  it('rejects no data that the whole schema accepts', () => {
    const { schema } = fc.letrec<{ schema: object }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom<object>(
          { type: 'string', pattern: 'a' },
          { type: 'integer', minimum: 3 },
          { enum: [1, 'b', null] },
          { not: { const: 'a' } },
          {},
        ),
        fc
          .tuple(tie('schema'), tie('schema'))
          .map(([first, items]) => ({ type: 'array', prefixItems: [first], items, uniqueItems: true })),
        tie('schema').map((items) => ({ type: 'array', items, contains: { const: 1 } })),
        fc.tuple(tie('schema'), tie('schema'), tie('schema')).map(([a, b, more]) => ({
          type: 'object',
          properties: { a },
          patternProperties: { b },
          additionalProperties: more,
        })),
        fc
          .tuple(tie('schema'), tie('schema'))
          .map(([a, more]) => ({ type: 'object', properties: { a }, additionalProperties: more, minProperties: 1 })),
        fc
          .tuple(fc.constantFrom('oneOf', 'anyOf', 'allOf'), fc.array(tie('schema'), { minLength: 1, maxLength: 3 }))
          .map(([keyword, schemas]) => ({ [keyword]: schemas })),
      ),
    }));
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        fc.constantFrom(1, 4, 'a', 'b', null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { noNullPrototype: true }),
      ),
    }));
    let passed = 0;
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 5, maxLength: 10 }), (a, candidates) => {
        const whole = objectOf({ a });
        const stored = storableSchema(whole);
        expect(schemaProblem(stored)).toBeNull();
        const passing = candidates.filter((each) => fits(whole, { a: each }));
        passed += passing.length;
        expect(passing.filter((each) => !fits(stored, { a: each }))).toEqual([]);
      }),
      { numRuns: 60 },
    );
    expect(passed).toBeGreaterThan(0);
  });
});
