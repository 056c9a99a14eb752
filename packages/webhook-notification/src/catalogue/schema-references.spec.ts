import Ajv2020 from 'ajv/dist/2020';
import { withoutReferences } from './schema-references';

const schema = {
  type: 'object' as const,
  $defs: {
    money: { type: 'integer', minimum: 0 },
    'a/b': { type: 'array', items: { $ref: '#/$defs/money' } },
  },
  properties: {
    price: { $ref: '#/$defs/money', maximum: 10 },
    list: { $ref: '#/$defs/a~1b' },
    $ref: { const: { $ref: '#/$defs/money' } },
    either: { oneOf: [{ $ref: '#/$defs/money' }, { type: 'null' }] },
  },
  additionalProperties: { $ref: '#/$defs/money' },
};

describe('A schema without references', () => {
  it('has in their places what they lead to', () => {
    expect(withoutReferences(schema)).toEqual({
      type: 'object',
      properties: {
        price: { maximum: 10, allOf: [{ type: 'integer', minimum: 0 }] },
        list: { type: 'array', items: { type: 'integer', minimum: 0 } },
        $ref: { const: { $ref: '#/$defs/money' } },
        either: { oneOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }] },
      },
      additionalProperties: { type: 'integer', minimum: 0 },
    });
  });

  it.each([
    { price: 3 },
    { price: 11 },
    { price: -1 },
    { list: [1, 2] },
    { list: [-1] },
    { either: null },
    { other: 1 },
    { other: 'x' },
    { $ref: { $ref: '#/$defs/money' } },
  ])('judges %p as before', (data) => {
    const judge = (from: object) => new Ajv2020({ strict: false }).compile(from)(data);
    expect(judge(withoutReferences(schema))).toBe(judge(schema));
  });

  it('keeps those that would never end, and those to nothing', () => {
    const $defs = { list: { type: 'array', items: { $ref: '#/$defs/list' } } };
    const properties = { a: { $ref: '#/$defs/list' }, b: { $ref: '#/$defs/none' } };
    expect(withoutReferences({ type: 'object', $defs, properties })).toEqual({
      type: 'object',
      properties: { a: { type: 'array', items: { $ref: '#/$defs/list' } }, b: { $ref: '#/$defs/none' } },
    });
  });
});
