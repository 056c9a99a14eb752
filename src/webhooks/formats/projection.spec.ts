import fc from 'fast-check';
import { parseFieldPaths, wantedFields } from './field-paths';
import { projectedBody } from './projection';

const HEAD = '{"id":"1","event":"a.b","createdAt":"2026","data":';
const bodyOf = (data: string) => `${HEAD}${data}}`;
const project = (data: string, ...paths: string[]) =>
  projectedBody(bodyOf(data), wantedFields(paths)).slice(HEAD.length, -1);

describe('A part of the data', () => {
  it.each<[string, string, string[], string]>([
    ['one member', '{"a":1,"b":2}', ['b'], '{"b":2}'],
    ['members in the order of the data', '{"z":1,"a":2,"m":3}', ['m', 'z'], '{"z":1,"m":3}'],
    ['a member below', '{"a":{"b":1,"c":2},"d":3}', ['a.c'], '{"a":{"c":2}}'],
    ['no member that is missing', '{"a":{"b":1}}', ['x', 'a.x', 'x.a'], '{"a":{}}'],
    ['no member below what is no object', '{"a":"cus_1","b":null,"c":1}', ['a.id', 'b.id', 'c'], '{"c":1}'],
    ['each element', '{"l":[{"s":1,"x":2},{"s":2}]}', ['l.s'], '{"l":[{"s":1},{"s":2}]}'],
    ['elements in their places', '{"l":[5,{"x":1},null,"s",{"s":2}]}', ['l.s'], '{"l":[null,{},null,null,{"s":2}]}'],
    ['arrays in arrays', '{"l":[[{"s":1}],[[],[{"x":1}]],7]}', ['l.s'], '{"l":[[{"s":1}],[[],[{}]],null]}'],
    ['an array below an array', '{"l":[{"m":[{"s":1,"t":2}]}]}', ['l.m.s'], '{"l":[{"m":[{"s":1}]}]}'],
    ['an empty array', '{"l":[]}', ['l.s'], '{"l":[]}'],
    ['whole values', '{"a":{"b":[1,{"c":"}]"}]},"d":[]}', ['a', 'd'], '{"a":{"b":[1,{"c":"}]"}]},"d":[]}'],
    ['a path that covers another, in either order', '{"a":{"b":1,"c":2}}', ['a.b', 'a', 'a.c'], '{"a":{"b":1,"c":2}}'],
    ['names that are numbers as names', '{"l":[{"0":1},2],"0":3}', ['l.0', '0'], '{"l":[{"0":1},null],"0":3}'],
    [
      'numbers as spelled',
      '{"a":1.0,"b":18446744073709551615,"c":1E+2,"d":-0}',
      ['b', 'c'],
      '{"b":18446744073709551615,"c":1E+2}',
    ],
    [
      'escapes as spelled',
      String.raw`{"a":"\u00e9\/\"","b\"\\":"\\"}`,
      ['a', 'b"\\'],
      String.raw`{"a":"\u00e9\/\"","b\"\\":"\\"}`,
    ],
    ['__proto__ as a name', '{"__proto__":{"a":1,"b":2},"constructor":1}', ['__proto__.a'], '{"__proto__":{"a":1}}'],
    ['nothing', '{"a":{"b":[1]}}', [], '{}'],
    ['nothing of an array without paths', '[1]', [], '{}'],
    ['data that is an array', '[{"a":1,"b":2}]', ['a'], '[{"a":1}]'],
    ['data that is a text', '"a"', ['a'], 'null'],
    ['braces in texts', '{"x":"{\\"a\\":1}","a":"[\\\\"}', ['a'], '{"a":"[\\\\"}'],
  ])('is %s', (_, data, paths, expected) => {
    expect(project(data, ...paths)).toBe(expected);
  });

  it('is what a recursive projection of the parsed data is', () => {
    const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'é"', '\\');
    const { data } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, fc.jsonValue({ maxDepth: 0 }), tie('list'), tie('data')),
      list: fc.array(tie('value'), { maxLength: 4 }),
      data: fc.dictionary(name, tie('value'), { maxKeys: 5 }),
    }));
    const paths = fc.array(fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('.')));
    fc.assert(
      fc.property(data, paths, (value, wanted) => {
        const text = JSON.stringify(value);
        const parsed: unknown = JSON.parse(text);
        const expected =
          wanted.length === 0
            ? {}
            : partOf(
                parsed,
                wanted.map((path) => path.split('.')),
              );
        expect(JSON.parse(project(text, ...wanted))).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it.each(['{"a":1', '{"a"', '{"a":}', '{"a":1,}', '{"b":[1}', '{"a":1}}', '{"b":"x', '{a:1}', '{"a": 1}x', ''])(
    'is not made of %j',
    (data) => {
      expect(() => project(data, 'a')).toThrow(SyntaxError);
    },
  );
});

/** The same by recursion over parsed values. */
function partOf(value: unknown, paths: string[][]): unknown {
  if (Array.isArray(value)) return value.map((each) => (isContainer(each) ? partOf(each, paths) : null));
  const own = Object.entries(value as object).flatMap(([name, member]: [string, unknown]): [string, unknown][] => {
    const below = paths.filter(([first]) => first === name).map(([, ...rest]) => rest);
    if (below.some((rest) => rest.length === 0)) return [[name, member]];
    return below.length > 0 && isContainer(member) ? [[name, partOf(member, below)]] : [];
  });
  return Object.fromEntries(own);
}

const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null;

describe('parseFieldPaths', () => {
  it.each([null, [], ['a'], ['a.b', 'a'], ['0', '__proto__', 'é €'], Array(50).fill('a'), ['x'.repeat(256)]])(
    'accepts %j',
    (value) => expect(parseFieldPaths(value)).toEqual({ paths: value }),
  );

  it.each([
    ...['a', {}, 5, [5], [''], ['.'], ['a.'], ['.a'], ['a..b'], ['a\0'], ['\ud800'], Array(51).fill('a')],
    ['x'.repeat(257)],
  ])('refuses %j', (value) =>
    expect(parseFieldPaths(value)).toEqual({
      error: { field: 'fields', code: 'invalid', message: expect.stringContaining('at most 50 paths') },
    }),
  );
});
