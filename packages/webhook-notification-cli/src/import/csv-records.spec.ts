import fc from 'fast-check';
import { parseCsv } from './csv-records';

const fieldsOf = (text: string) => parseCsv(text).map(({ fields }) => fields);

describe('A CSV file', () => {
  // The rules of RFC 4180, section 2, by number.
  it.each<[string, string, string[][]]>([
    [
      '1: lines with CRLF',
      'aaa,bbb\r\nzzz,yyy\r\n',
      [
        ['aaa', 'bbb'],
        ['zzz', 'yyy'],
      ],
    ],
    [
      '2: no line break at the end',
      'aaa,bbb\r\nzzz,yyy',
      [
        ['aaa', 'bbb'],
        ['zzz', 'yyy'],
      ],
    ],
    ['4: spaces are part of a field', ' a , b', [[' a ', ' b']]],
    [
      '5: quoted fields',
      '"aaa","bbb"\r\nzzz,yyy',
      [
        ['aaa', 'bbb'],
        ['zzz', 'yyy'],
      ],
    ],
    [
      '6: line breaks and commas in quotes',
      '"aaa","b\r\nb,b"\r\nz,y',
      [
        ['aaa', 'b\r\nb,b'],
        ['z', 'y'],
      ],
    ],
    ['7: quotes in quotes', '"aaa","b""bb"', [['aaa', 'b"bb']]],
    [
      'LF alone',
      'a,b\nc,d\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['a byte order mark', '\uFEFFa,b', [['a', 'b']]],
    [
      'empty fields',
      ',,\r\na,,',
      [
        ['', '', ''],
        ['a', '', ''],
      ],
    ],
    ['empty lines', '\r\na\n\n\nb\n', [['a'], ['b']]],
    ['an empty quoted field', '""', [['']]],
    ['nothing', '', []],
  ])('may have %s', (_, text, records) => {
    expect(fieldsOf(text)).toEqual(records);
  });

  it('tells the line on which each record begins', () => {
    expect(parseCsv('a\n"b\nb"\n\nc\n').map(({ line }) => line)).toEqual([1, 2, 5]);
  });

  it.each([
    ['a\n"b', 2],
    ['a\n\nb"c', 3],
    ['"a"b', 1],
    ['a\rb', 1],
  ])('%j is refused with its line, without its content', (text, line) => {
    expect(() => parseCsv(text)).toThrow(new RegExp(`^Line ${line} is no CSV: a quote [^"]*$`));
  });

  it('gives back any fields that were quoted', () => {
    const records = fc.array(fc.array(fc.string({ unit: 'binary' }), { minLength: 2 }));
    const quoted = (field: string) => `"${field.replaceAll('"', '""')}"`;
    fc.assert(
      fc.property(records, (all) => {
        expect(fieldsOf(all.map((fields) => fields.map(quoted).join()).join('\r\n'))).toEqual(all);
      }),
    );
  });

  it('may have fields of megabytes', () => {
    const field = `${'""'.repeat(1_000_000)}${'x'.repeat(1_000_000)}`;
    expect(parseCsv(`"${field}",b`)[0]?.fields.map(({ length }) => length)).toEqual([2_000_000, 1]);
    expect(() => parseCsv(`"${field}`)).toThrow('Line 1');
  });
});
