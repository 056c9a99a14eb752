import fc from 'fast-check';
import { eventBody } from '../events/event-body';
import { type DataVerdict, MAX_DEPTH, serialiseData } from './event-data';

const bodyOf = (text: string) => eventBody('0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90', 'a.b', new Date(0), text);

function accepted(data: unknown): Extract<DataVerdict, { ok: true }> {
  const verdict = serialiseData(data);
  if (!verdict.ok) throw new Error(verdict.problem);
  return verdict;
}

const problemOf = (data: unknown): string | null => {
  const verdict = serialiseData(data);
  return verdict.ok ? null : verdict.problem;
};

const STRANGE = ['\ud800', '\udfff', '\u0000', '\u2028', '"', '\\', '\ufeff', '\u{1f600}', '<', '\u007f'];
const text = fc.string({ unit: fc.oneof(fc.constantFrom(...STRANGE), fc.string({ unit: 'binary', maxLength: 1 })) });
const key = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toJSON', '', '0', '1', '10', '-1', 'b', 'a'));
const number = fc.oneof(
  fc.double({ noNaN: true, min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
  fc.maxSafeInteger(),
);
/** Objects as returned by `JSON.parse`, with every kind of key and text that JSON can carry. */
const parsed = fc
  .letrec<{ value: string; object: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      text.map((value) => JSON.stringify(value)),
      number.map((value) => JSON.stringify(value)),
      fc.constantFrom('true', 'false', 'null', '-0', '1E3', '1.0', '[]', '{}'),
      fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join()}]`),
      tie('object'),
    ),
    object: fc
      .array(fc.tuple(key, tie('value')), { maxLength: 5 })
      .map((entries) => `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`),
  }))
  .object.map((json) => JSON.parse(json) as object);

describe('The body of an event', () => {
  it('is the same after it is parsed and serialized again, for any data', () => {
    fc.assert(
      fc.property(parsed, (data) => {
        const { text: json, value } = accepted(data);
        const body = bodyOf(json);
        expect(JSON.stringify(JSON.parse(body))).toBe(body);
        expect(JSON.stringify(value)).toBe(json);
        expect(JSON.stringify((JSON.parse(body) as { data: unknown }).data)).toBe(JSON.stringify(data));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['keys like integers', '{"b":1,"10":2,"9":3}', '{"9":3,"10":2,"b":1}'],
    ['a key __proto__', '{"__proto__":{"a":1}}', '{"__proto__":{"a":1}}'],
    ['a key constructor', '{"constructor":1}', '{"constructor":1}'],
    ['a key toJSON', '{"toJSON":"x"}', '{"toJSON":"x"}'],
    ['an empty key', '{"":{"":[]}}', '{"":{"":[]}}'],
    ['a repeated key', '{"a":1,"a":2}', '{"a":2}'],
    ['lone surrogates', '{"a":"\\uD800\\udc00\\udfff"}', '{"a":"\u{10000}\\udfff"}'],
    ['NUL', '{"\\u0000":"\\u0000"}', '{"\\u0000":"\\u0000"}'],
    ['unnecessary escapes', '{"\\u0061":"\\/\\u00e9"}', '{"a":"/é"}'],
    ['large and small numbers', '{"a":1E15,"b":-0,"c":5e-324}', '{"a":1000000000000000,"b":0,"c":5e-324}'],
    ['more digits than a double has', '{"a":1.2345678901234567890}', '{"a":1.2345678901234567}'],
  ])('with %s is the same, too', (_, json, stored) => {
    const body = bodyOf(accepted(JSON.parse(json)).text);
    expect(body).toBe(bodyOf(stored));
    expect(JSON.stringify(JSON.parse(body))).toBe(body);
  });
});

describe('Data', () => {
  it.each([null, undefined, [], [{}], 'text', '{}', 1, true, () => ({}), 1n])('cannot be %p', (data) => {
    expect(problemOf(data)).toBe('data must be a JSON object');
  });

  it.each([
    ['a date', { a: new Date(0) }, { a: '1970-01-01T00:00:00.000Z' }],
    ['an invalid date', { a: new Date(NaN) }, { a: null }],
    ['undefined', { a: undefined, b: [undefined] }, { b: [null] }],
    ['functions and symbols', { a: () => 1, b: Symbol('b'), [Symbol('c')]: 1 }, {}],
    ['its own toJSON', { a: { toJSON: () => ({ b: 1 }) } }, { a: { b: 1 } }],
    ['a map', { a: new Map([[1, 2]]) }, { a: {} }],
    ['an instance of a class', { a: Object.assign(new (class Money {})(), { cents: 5 }) }, { a: { cents: 5 } }],
  ])('with %s is converted as JSON does, and then validated', (_, data, value) => {
    const verdict = accepted(data);
    expect(JSON.parse(verdict.text)).toStrictEqual(value);
    expect(verdict.value).toStrictEqual(value);
  });

  it('that serializes itself is validated as its serialized value', () => {
    class Money {
      constructor(readonly cents: number) {}
      toJSON() {
        return { euros: this.cents / 100 };
      }
    }
    expect(accepted(new Money(150))).toStrictEqual({ ok: true, text: '{"euros":1.5}', value: { euros: 1.5 } });
  });

  it.each([
    ['a string', new Date(0)],
    [
      'an array',
      new (class List {
        toJSON = () => [1];
      })(),
    ],
    ['nothing', { toJSON: () => undefined }],
  ])('that serializes itself as %s is rejected', (_, data) => {
    expect(problemOf(data)).not.toBeNull();
  });

  it.each([
    ['a bigint', { a: [1n] }],
    [
      'a cycle',
      (() => {
        const node: Record<string, unknown> = {};
        node.self = { node };
        return node;
      })(),
    ],
    [
      'a toJSON that throws',
      {
        a: {
          toJSON: () => {
            throw new Error('no');
          },
        },
      },
    ],
    [
      'a getter that throws',
      {
        get a() {
          throw new Error('no');
        },
      },
    ],
  ])('with %s is rejected without an exception', (_, data) => {
    expect(problemOf(data)).toMatch(/^data must /);
  });

  it.each([
    ['NaN', { a: NaN }],
    ['Infinity', { a: [1, { b: Infinity }] }],
    ['-Infinity', { a: -Infinity }],
    ['1e400 from a JSON text', JSON.parse('{"a":1e400}') as object],
    ['2^53', { a: [2 ** 53] }],
    ['-1e20', { a: { b: -1e20 } }],
    ['a BigInt', { a: 5n }],
    ['a whole number that toJSON returns', { a: { toJSON: () => 2 ** 53 } }],
  ])('with %s is rejected', (_, data) => {
    expect(problemOf(data)).toBe(
      'data must hold only finite numbers, and none beyond ±9007199254740991; send larger ones as strings',
    );
  });
});

describe('Nesting', () => {
  const tooDeep = `data must not be nested deeper than ${MAX_DEPTH} levels`;
  /** `depth` nested objects, including the outermost, with a text in the innermost. */
  const objects = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}"b"${'}'.repeat(depth)}`) as object;
  const arrays = (depth: number) => ({ a: JSON.parse('['.repeat(depth - 1) + ']'.repeat(depth - 1)) as unknown });

  it('of 64 levels is accepted', () => {
    expect(MAX_DEPTH).toBe(64);
    expect(problemOf(objects(64))).toBeNull();
    expect(problemOf(arrays(64))).toBeNull();
  });

  it.each([65, 5000, 20_000])('of %i levels is rejected', (depth) => {
    expect(problemOf(objects(depth))).toBe(tooDeep);
    expect(problemOf(arrays(depth))).toBe(tooDeep);
  });

  it('counts the levels of the serialized value', () => {
    expect(problemOf({ a: { toJSON: () => objects(63) } })).toBeNull();
    expect(problemOf({ a: { toJSON: () => objects(64) } })).toBe(tooDeep);
  });

  it('treats a repeated object as two objects, not as a cycle', () => {
    const shared = { b: 1 };
    expect(accepted({ a: shared, c: [shared] }).text).toBe('{"a":{"b":1},"c":[{"b":1}]}');
  });

  it('with two cycles is rejected before the traversal grows', () => {
    let reads = 0;
    // Ends by itself: a traversal that doubles at each level would use all memory.
    const next = () => (++reads > 10_000 ? null : node);
    const node: object = {
      get left() {
        return next();
      },
      get right() {
        return next();
      },
    };
    expect(problemOf(node)).toMatch(/^data must /);
    expect(reads).toBeLessThan(1000);
  });
});
