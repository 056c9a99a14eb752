import { schemaProblem } from './schema-rules';

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const nested = (depth: number): object =>
  depth === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(depth - 1) } };

describe('The rules for schemas from the API', () => {
  it.each([
    [
      'the keywords of an ordinary event',
      object({ id: { type: 'string', format: 'uuid' }, cents: { type: 'integer', minimum: 0 } }),
    ],
    ['annotations', { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'x', ...object({}) }],
    ['alternatives', object({ a: { oneOf: [{ const: 1 }, { enum: ['b', null] }] } }, { additionalProperties: false })],
    [
      'references',
      object({ a: { $ref: '#/$defs/b' } }, { $defs: { b: { type: 'array', items: { $ref: '#/$defs/c' } }, c: {} } }),
    ],
    ['boolean schemas', object({ a: true }, { additionalProperties: false })],
    ['a reference with an escaped slash', object({ a: { $ref: '#/$defs/a~1b' } }, { $defs: { 'a/b': true } })],
    ['a property with the name of a keyword', object({ pattern: { type: 'string' }, $ref: { type: 'string' } })],
  ])('accept %s', (_, schema) => expect(schemaProblem(schema)).toBeNull());

  it.each([
    ['a list', [], 'schema must be a JSON object'],
    ['another type', { type: 'string' }, 'schema.type must be "object"'],
    [
      'a pattern',
      object({ a: { pattern: '(a+)+$' } }),
      'schema.properties.a.pattern is not a keyword that a schema may have here',
    ],
    [
      'unique items',
      object({ a: { uniqueItems: true } }),
      'schema.properties.a.uniqueItems is not a keyword that a schema may have here',
    ],
    [
      'another format',
      object({ a: { format: 'regex' } }),
      'schema.properties.a.format must be one of date-time, date, uuid, email, uri',
    ],
    [
      'a reference to another document',
      object({ a: { $ref: 'https://evil.example/x' } }),
      'schema.properties.a.$ref must lead to one of $defs',
    ],
    [
      'a recursive reference',
      object({ a: { $ref: '#/$defs/b' } }, { $defs: { b: { items: { $ref: '#/$defs/b' } } } }),
      'schema.properties.a.$ref.items.$ref leads to itself',
    ],
    [
      'a reference to an inherited key',
      object({ a: { $ref: '#/$defs/constructor' } }),
      'schema.properties.a.$ref must lead to one of $defs',
    ],
    ['more than 16 KiB', object({ a: { description: 'x'.repeat(17_000) } }), 'schema is larger than 16384 bytes'],
  ])('reject %s', (_, schema, problem) => expect(schemaProblem(schema)).toBe(problem));

  it('reject schemas that are too deep or have too many keywords', () => {
    expect(schemaProblem(nested(7))).toBeNull();
    expect(schemaProblem(nested(30))).toMatch(/more than 16 levels deep$/);
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`p${i}`, { type: 'null' }]));
    expect(schemaProblem(object(many))).toMatch(/exceeds the limit of 500 keywords and enum values$/);
  });

  it('count enum values and their members together with the keywords, up to 500 in total', () => {
    const values = (count: number): unknown[] => Array.from({ length: count }, (_, i) => i);
    const enumOf = (values: unknown[]) => object({ a: { enum: values } });
    const tooMany = /^schema\.properties\.a\.(enum|const) exceeds the limit of 500 keywords and enum values$/;
    expect(schemaProblem(enumOf(values(497)))).toBeNull();
    expect(schemaProblem(enumOf(values(498)))).toMatch(tooMany);
    expect(schemaProblem(enumOf([values(495), 'x']))).toBeNull();
    expect(schemaProblem(enumOf([values(496), 'x']))).toMatch(tooMany);
    expect(schemaProblem(object({ a: { const: { b: { c: values(600) } } } }))).toMatch(tooMany);
  });

  it('count the values of an enum as often as references repeat it', () => {
    const $defs = { currency: { enum: Array.from({ length: 100 }, (_, i) => `C${i}`) } };
    const uses = (count: number) =>
      object({ a: { allOf: Array(count).fill({ $ref: '#/$defs/currency' }) } }, { $defs });
    expect(schemaProblem(uses(4))).toBeNull();
    expect(schemaProblem(uses(5))).toMatch(/exceeds the limit of 500 keywords and enum values$/);
  });

  it('count a schema without keywords as one', () => {
    const none = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`p${i}`, i % 2 ? false : {}]));
    expect(schemaProblem(object(none))).toMatch(/exceeds the limit of 500/);
  });

  it('count a referenced schema at each reference', () => {
    const twice = (name: string) => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`d${i}`, i === 59 ? {} : twice(`d${i + 1}`)]),
    );
    expect(schemaProblem(object({ a: twice('d0') }, { $defs }))).toMatch(/more than|exceeds the limit/);
  });
});
