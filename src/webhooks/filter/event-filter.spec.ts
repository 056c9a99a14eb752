import { parseFilter } from './event-filter';

const errorsOf = (value: unknown) => {
  const verdict = parseFilter(value);
  return verdict.ok ? [] : verdict.errors;
};
const fieldsOf = (json: string): string[] => errorsOf(JSON.parse(json)).map(({ field }) => field);
/** Conditions with as many paths. */
const conditions = (count: number, condition: unknown = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`data.f${i}`, condition]));
/** A filter with as many bytes of JSON. */
const filterOfBytes = (bytes: number) => ({ 'data.a': 'x'.repeat(bytes - JSON.stringify({ 'data.a': '' }).length) });
const nested = (depth: number, open: string, close: string): unknown =>
  JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`);

describe('parseFilter', () => {
  it.each([
    '{"event":"order.paid"}',
    '{"userId":null}',
    '{"data.a":["x",1,true,null,1]}',
    '{"data.a":{"eq":null,"ne":"","gt":-1.5,"gte":0,"lt":1e308,"lte":1}}',
    '{"data.a":{"prefix":"","suffix":"😀","exists":false,"in":[1],"nin":[null]}}',
    '{"any":[{"data.a":1}]}',
    '{"data.b":1,"any":[{"data.a":1},{"data.a":2},{"data.a":3},{"data.a":4},{"data.a":5}]}',
    '{"data.any":1,"data.__proto__":1}',
  ])('accepts %s as it is', (json) => {
    const value: unknown = JSON.parse(json);
    expect(parseFilter(value)).toEqual({ ok: true, filter: JSON.parse(json) });
  });

  it('accepts null, which means no filter', () => {
    expect(parseFilter(null)).toEqual({ ok: true, filter: null });
  });

  it.each([undefined, true, 0, '', 'data.a', [], [{ 'data.a': 1 }], () => 1, Symbol('x'), 1n, new Date(0)])(
    'rejects %p with one error at filter',
    (value) => {
      expect(errorsOf(value)).toMatchObject([{ field: 'filter', code: 'invalid' }]);
    },
  );

  it.each([
    ['{}', ['filter']],
    ['{"amount":1}', ['filter["amount"]']],
    ['{"data.a":{}}', ['filter["data.a"]']],
    ['{"data.a":[]}', ['filter["data.a"]']],
    ['{"data.a":["x",{},[],"\\u0000",1e999]}', [1, 2, 3, 4].map((i) => `filter["data.a"][${i}]`)],
    ['{"data.a":"\\ud800"}', ['filter["data.a"]']],
    ['{"data.a":1e999}', ['filter["data.a"]']],
    ['{"data.a":{"eq":[1],"ne":{}}}', ['filter["data.a"].eq', 'filter["data.a"].ne']],
    ['{"data.a":{"gt":"1","gte":null,"lt":true,"lte":1e999}}', 'gt gte lt lte'],
    ['{"data.a":{"prefix":1,"suffix":"\\u0000","exists":null}}', 'prefix suffix exists'],
    ['{"data.a":{"in":[],"nin":"x"}}', 'in nin'],
    ['{"data.a":{"in":[1,[1]]}}', ['filter["data.a"].in[1]']],
    ['{"data.a":{"regex":"x"}}', ['filter["data.a"]["regex"]']],
    [
      '{"data.a":{"__proto__":1,"constructor":2}}',
      ['filter["data.a"]["__proto__"]', 'filter["data.a"]["constructor"]'],
    ],
    ['{"__proto__":[1]}', ['filter["__proto__"]']],
    ['{"data":{"a":1},"x":{"y":2}}', ['filter["data"]["a"]', 'filter["x"]', 'filter["x"]["y"]']],
    ['{"any":{"data.a":1}}', ['filter.any']],
    ['{"any":[]}', ['filter.any']],
    ['{"any":[1,[],{}]}', ['filter.any[0]', 'filter.any[1]', 'filter.any[2]']],
    [`{"any":${JSON.stringify(Array(6).fill({ 'data.a': 1 }))}}`, ['filter.any']],
    ['{"any":[{"data.a":1},{"any":[{"data.a":1}]}]}', ['filter.any[1].any']],
    ['{"any":[{"data.a":{"gt":"1"}}]}', ['filter.any[0]["data.a"].gt']],
  ])('rejects %s at %j', (json, fields) => {
    const expected = Array.isArray(fields) ? fields : fields.split(' ').map((name) => `filter["data.a"].${name}`);
    expect(fieldsOf(json)).toEqual(expected);
  });

  it('lists the operators when one is unknown', () => {
    expect(errorsOf({ 'data.a': { regex: 'x' } })).toEqual([
      {
        field: 'filter["data.a"]["regex"]',
        code: 'unknown_field',
        message:
          'filter["data.a"]["regex"] is not an operator: ' +
          'the operators are eq, ne, gt, gte, lt, lte, prefix, suffix, exists, in, nin',
      },
    ]);
  });

  it('begins each message with its field, and repeats little of the input', () => {
    const long = 'x'.repeat(500);
    const errors = errorsOf({ [long]: { [long]: long, prefix: [long] }, 'data.a': { gt: long }, any: long });
    expect(errors).toHaveLength(5);
    for (const { field, message } of errors) {
      expect(message.startsWith(`${field} `)).toBe(true);
      expect(message.replace(/[^x]/g, '').length).toBeLessThan(100);
    }
  });

  it('stops after 20 errors', () => {
    expect(errorsOf({ 'data.a': Array(2000).fill({}) })).toHaveLength(20);
  });
});

describe('The limits of a filter', () => {
  const operators = (count: number) => ({ 'data.a': { gt: 1, lt: 2 }, ...conditions(count - 2) });

  it.each([
    ['paths', conditions],
    ['operators', operators],
    ['conditions in any', (count: number) => ({ any: [conditions(10), conditions(count - 10)] })],
    ['conditions in all places', (count: number) => ({ ...operators(9), any: [conditions(count - 9)] })],
  ])('are 20 %s', (_, filterOf) => {
    expect(errorsOf(filterOf(20))).toEqual([]);
    expect(errorsOf(filterOf(21))).toMatchObject([{ field: 'filter', message: expect.stringContaining('20') }]);
  });

  it('are 4096 bytes of JSON, in UTF-8', () => {
    expect(errorsOf(filterOfBytes(4096))).toEqual([]);
    expect(errorsOf(filterOfBytes(4097))).toMatchObject([
      { field: 'filter', message: expect.stringContaining('4096') },
    ]);
    expect(errorsOf({ 'data.a': 'ü'.repeat(2050) })).toMatchObject([{ field: 'filter' }]);
  });

  it.each([
    ['an array 10,000 deep', nested(10_000, '[', ']')],
    ['objects 10,000 deep', nested(10_000, '{"data.a":', '}')],
    ['any 10,000 deep', nested(10_000, '{"any":[', ']}')],
    ['a depth of 10,000 in a condition', { 'data.a': nested(10_000, '[', ']') }],
    ['a depth of 10,000 in an operator', { 'data.a': { eq: nested(10_000, '{"eq":', '}') } }],
    ['100,000 conditions', conditions(100_000)],
    ['100,000 alternatives', { any: Array(100_000).fill({ 'data.a': 1 }) }],
    ['a list of a million', { 'data.a': Array(1_000_000).fill(1) }],
    ['a string of a million', { 'data.a': 'x'.repeat(1_000_000) }],
  ])('reject %s with few errors', (_, value) => {
    const errors = errorsOf(value);
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBeLessThanOrEqual(20);
  });

  it('are checked before the elements of a long list', () => {
    const untouchable = new Proxy(Array<unknown>(5000), {
      get: (list, name) => {
        if (name === 'length') return list.length;
        throw new Error(`reads ${String(name)}`);
      },
    });
    expect(errorsOf({ 'data.a': untouchable })).toMatchObject([{ field: 'filter["data.a"]' }]);
  });
});
