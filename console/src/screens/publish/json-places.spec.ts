import { type Expected, jsonFaultOf, lineAt, placeOf, placesOf } from './json-places';

const TEXT = `{
  "accountId": "one",
  "follower": {
    "id": "1",
    "na.me": null
  },
  "lines": [
    { "cents": 4900 },
    [],
    { "cents": -1.5e3, "tags": ["a", "}"] }
  ],
  "accountId": "two"
}`;

const lineOf = (text: string, field: string): number | null => {
  const at = placeOf(placesOf(text), field);
  return at === null ? null : lineAt(text, at).line;
};

describe('The line of a field', () => {
  it.each([
    ['data', 1],
    ['data.accountId', 12],
    ['data.follower', 3],
    ['data.follower.id', 4],
    ['data.follower.na.me', 5],
    ['data.lines[0]', 8],
    ['data.lines[0].cents', 8],
    ['data.lines[1]', 9],
    ['data.lines[2].tags[1]', 10],
  ])('%s is %d', (field, line) => {
    expect(lineOf(TEXT, field)).toBe(line);
  });

  it.each([
    ['data.follower.username', 3],
    ['data.lines[0].currency.code', 8],
    ['data.lines[7].cents', 7],
    ['data.observedAt', 1],
  ])('%s, which is missing, is that of the value around it: %d', (field, line) => {
    expect(lineOf(TEXT, field)).toBe(line);
  });

  it.each(['event', 'userId', 'idempotencyKey', 'header.idempotency-key', 'database', ''])(
    'of %j is none: it is no field of the data',
    (field) => {
      expect(lineOf(TEXT, field)).toBeNull();
    },
  );

  it('reads names as JSON does, and none of them as a part of an object of the language', () => {
    expect(lineOf('{\n"\\u0061": 1,\n"__proto__": {\n"b": 2}}', 'data.a')).toBe(2);
    expect(lineOf('{\n"\\u0061": 1,\n"__proto__": {\n"b": 2}}', 'data.__proto__.b')).toBe(4);
  });

  it('is found at once in a text that is as deep as it is long', () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    expect(placesOf(deep).of.size).toBeLessThanOrEqual(65);
    expect(placesOf(deep).fault).toBeNull();
  });
});

describe('The fault of a text', () => {
  it.each([
    ['', 0, 'value'],
    ['{"a": }', 6, 'value'],
    ['{"a": 1,}', 8, 'name'],
    ['{a: 1}', 1, 'name'],
    ['{"a" 1}', 5, 'colon'],
    ['{"a": 1 "b": 2}', 8, 'comma'],
    ['[1 2]', 3, 'comma'],
    ['[1, 2}', 5, 'comma'],
    ['[1,]', 3, 'value'],
    ['{"a": 1}}', 8, 'end'],
    ['{"a": "x\ny"}', 6, 'value'],
    ['{"a": 01}', 7, 'comma'],
    ['{"a": nul}', 6, 'value'],
    ['{"a": [1, 2', 11, 'comma'],
    ["{'a': 1}", 1, 'name'],
  ] as [string, number, Expected][])('%j is at %d: expected %s', (text, at, expected) => {
    expect(() => JSON.parse(text) as unknown).toThrow();
    expect(jsonFaultOf(text)).toEqual({ at, expected });
  });

  it.each(['{}', '[]', ' "x" ', '1', 'null', TEXT, '{"a":[{},[],""]}', '"\\ud800\\/"'])('%j is none', (text) => {
    expect(jsonFaultOf(text)).toBeNull();
    expect(placesOf(text).fault).toBeNull();
  });

  it('beyond 64 levels has no place', () => {
    expect(jsonFaultOf('['.repeat(100))).toEqual({ at: null, expected: null });
  });
});

it('counts lines and columns from 1', () => {
  expect(lineAt('a\nbc', 0)).toEqual({ line: 1, column: 1 });
  expect(lineAt('a\nbc', 3)).toEqual({ line: 2, column: 2 });
});
