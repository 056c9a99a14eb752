import fc from 'fast-check';
import { inexactPartOf } from './exact-json';

const messageOf = (json: string) => inexactPartOf(json)?.message ?? null;
const BEYOND = 'must not be beyond ±9007199254740991; send larger ones as strings';

describe('A JSON text', () => {
  it.each([
    ...['1046754817289310209', '9007199254740992', '9007199254740993.0', '-9007199254740993', '1e20', '1E+16', '1e400'],
    ...['-1e400', '0.1e18', '90071992547409930e-1', `1${'0'.repeat(400)}`, '9007199254740993.4'],
  ])('must not contain the number %s, wherever it stands', (number) => {
    expect(inexactPartOf(number)).toEqual({ field: 'body', code: 'invalid', message: `body ${BEYOND}` });
    expect(messageOf(`{"data":{"id":${number}}}`)).toBe(`data.id ${BEYOND}`);
    expect(messageOf(`{ "a" : [ 1 , {"b":[]}, [ {"c": ${number} } ] ] }`)).toBe(`a[2][0].c ${BEYOND}`);
    expect(messageOf(`[${number},1]`)).toBe(`[0] ${BEYOND}`);
  });

  it.each([
    ...['0', '-0', '9007199254740991', '-9007199254740991', '9007199254740991.0', '1e15', '5e-324', '1e-400', '1.0'],
    ...['0.1234567890123456789', '123456789.12345678901234567890', '9007199254740990000e-3', '9007199254740991.2'],
    ...['"1046754817289310209"', '"1e400"', '"{\\"a\\":1e400}"', '{"1046754817289310209":1}', '"\\\\",1'],
  ])('may contain %s', (value) => {
    expect(messageOf(`[${value}]`)).toBeNull();
    expect(messageOf(`{"a\\"b":${value.split(',')[0]},"c":{"a":1,"b":1},"b":[{"a":1},{"a":1}],"a":"a"}`)).toBeNull();
  });

  it.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1,"b":{"c":1,"c":2}}', 'b.c'],
    ['{"a":[{},{"c":{},"b":1,"c":[]}]}', 'a[1].c'],
    ['{"a":{"b":1},"c":2,"a":{"b":1}}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"":1,"":2}', 'body'],
    ['[{"a":1 , "a" : 1}]', '[0].a'],
    [`{"${'n'.repeat(100)}":1,"${'n'.repeat(100)}":1}`, 'n'.repeat(64)],
  ])('must not have a name twice in an object: %s', (json, field) => {
    expect(inexactPartOf(json)).toEqual({
      field,
      code: 'invalid',
      message: `${field} must occur only once in its object`,
    });
  });

  it.each(['{"a":{"__proto__":"x"}}', '{"a":{"b":[],"\\u005f_proto__":{}}}'])(
    'must not have a member __proto__: %s',
    (json) => {
      expect(messageOf(json)).toBe('a.__proto__ is a name that no object may have here');
    },
  );

  it('is exact when JSON.stringify wrote it from other values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        let isLarge = false;
        JSON.parse(json, (_, part) => (isLarge ||= Number.isInteger(part) && !Number.isSafeInteger(part)));
        return isLarge || json.includes('__proto__') || inexactPartOf(json) === null;
      }),
    );
  });
});
