import { metadataOfPair, parseMetadata } from './metadata';

const detailsOf = (value: unknown): unknown => {
  try {
    return parseMetadata(value);
  } catch (error) {
    return (error as { details: { field: string }[] }).details.map(({ field }) => field);
  }
};

describe('parseMetadata', () => {
  it.each([
    [{}],
    [{ team: 'billing', 'cost.center_2-b': '' }],
    [{ emoji: '😀'.repeat(200) }],
    [JSON.parse('{"constructor":"a","toString":"b"}')],
    [Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`n${i}`, 'x']))],
  ])('accepts %j', (value) => {
    expect(parseMetadata(value)).toEqual(value);
  });

  it.each([
    [null, ['metadata']],
    [[], ['metadata']],
    ['team', ['metadata']],
    [{ '': 'x' }, ['metadata']],
    [JSON.parse('{"__proto__":"x"}'), ['metadata']],
    [{ ['n'.repeat(41)]: 'x' }, ['metadata']],
    [
      { a: 1, b: null, c: 'x'.repeat(201), d: '\0', e: '\ud800', f: { g: 'x' } },
      'abcdef'.split('').map((name) => `metadata.${name}`),
    ],
    [Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`n${i}`, 'x'])), ['metadata']],
  ])('rejects %j', (value, fields) => {
    expect(detailsOf(value)).toEqual(fields);
  });
});

describe('metadataOfPair', () => {
  it.each([
    ['team:billing', { team: 'billing' }],
    ['url:https://example.com', { url: 'https://example.com' }],
    ['empty:', { empty: '' }],
  ])('splits %j at the first colon', (pair, metadata) => {
    expect(metadataOfPair(pair)).toEqual(metadata);
  });
});
