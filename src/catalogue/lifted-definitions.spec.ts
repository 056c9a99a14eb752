import type { ObjectSchema } from 'webhook-notification/catalogue';
import { liftDefinitions } from './outgoing-events';

const lift = (schema: object) => liftDefinitions(schema as ObjectSchema, 'invoice.paid');
const to = (name: string) => ({ $ref: `#/components/schemas/invoice.paid-${name}` });

describe('liftDefinitions', () => {
  it('turns definitions into components and rewrites references in every keyword that holds schemas', () => {
    const $defs = { money: { type: 'integer' }, line: { properties: { price: { $ref: '#/$defs/money' } } } };
    const line = { $ref: '#/$defs/line' };
    const properties = {
      ...{ one: line, list: { items: line }, map: { additionalProperties: line } },
      ...{ some: { anyOf: [line, { type: 'null' }] }, all: { allOf: [line] }, either: { oneOf: [line] } },
      inner: { properties: { deep: { ...line, description: 'Of an invoice.' } } },
    };
    expect(lift({ type: 'object', properties, $defs })).toEqual({
      schema: {
        type: 'object',
        properties: {
          ...{ one: to('line'), list: { items: to('line') }, map: { additionalProperties: to('line') } },
          ...{
            some: { anyOf: [to('line'), { type: 'null' }] },
            all: { allOf: [to('line')] },
            either: { oneOf: [to('line')] },
          },
          inner: { properties: { deep: { ...to('line'), description: 'Of an invoice.' } } },
        },
      },
      components: {
        'invoice.paid-money': { type: 'integer' },
        'invoice.paid-line': { properties: { price: to('money') } },
      },
    });
  });

  it('leaves data that looks like a reference, and references to missing definitions', () => {
    const data = { $ref: '#/$defs/a' };
    const properties = { $ref: { type: 'string' }, other: { $ref: '#/$defs/b' }, self: { $ref: '#' } };
    const schema = { type: 'object', const: data, enum: [data], default: data, examples: [data], properties };
    expect(lift({ ...schema, $defs: { a: true } })).toEqual({ schema, components: { 'invoice.paid-a': true } });
  });

  it('keeps a definition that refers to itself', () => {
    const tree = { properties: { children: { items: { $ref: '#/$defs/tree' } } } };
    expect(lift({ type: 'object', $defs: { tree } }).components).toEqual({
      'invoice.paid-tree': { properties: { children: { items: to('tree') } } },
    });
  });

  it('gives definitions of any name a component name that OpenAPI allows', () => {
    const names = ['a/b', 'a~b', 'ä b', '', '-0', '.0', '__proto__', 'constructor'];
    const properties = Object.fromEntries(
      names.map((name, i) => [`p${i}`, { $ref: `#/$defs/${name.replaceAll('~', '~0').replaceAll('/', '~1')}` }]),
    );
    const $defs = Object.fromEntries(names.map((name, i) => [name, { const: i }]));
    const { schema, components } = lift({ type: 'object', properties, $defs });
    expect(Object.keys(components).filter((name) => !/^[A-Za-z0-9._-]+$/.test(name))).toEqual([]);
    const found = Object.values(schema.properties as Record<string, { $ref: string }>).map(
      ({ $ref }) => components[$ref.replace('#/components/schemas/', '')],
    );
    expect(found).toEqual(names.map((_, i) => ({ const: i })));
  });

  it('does not repeat a definition that has many references', () => {
    const E = { enum: Array.from({ length: 2900 }, (_, i) => i) };
    const allOf = Array.from({ length: 110 }, () => ({ $ref: '#/$defs/E' }));
    const schema = { type: 'object', properties: { a: { items: { allOf } } }, $defs: { E } };
    expect(JSON.stringify(lift(schema)).length).toBeLessThan(JSON.stringify(schema).length + 110 * 40);
  });

  it('accepts a stored schema whose keywords have values of the wrong type', () => {
    const schema = { type: 'object', properties: [1], allOf: { a: 1 }, items: null, oneOf: 'x' };
    expect(lift(schema)).toEqual({ schema, components: {} });
  });
});
