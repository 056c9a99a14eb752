import { invalidField, largeShapeErrorOf, shapeErrorOf } from './body-shape';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

describe('The shape of a body', () => {
  it.each([null, 5, 'text', true, {}, [], { a: { b: [1, 2, { c: null }] } }])('of %j is valid', (body) => {
    expect(shapeErrorOf(body)).toBeNull();
  });

  it('is valid with 16 levels, and too deep beyond', () => {
    expect(shapeErrorOf(nested(16))).toBeNull();
    for (const depth of [17, 5000, 20_000]) expect(shapeErrorOf(nested(depth))).toBe('too deep');
  });

  it('is valid with 1,000 values, and too large beyond, wherever they are', () => {
    expect(shapeErrorOf(new Array(1000).fill(0))).toBeNull();
    expect(shapeErrorOf(new Array(1001).fill(0))).toBe('too many values');
    const inTwo = (count: number) => ({ a: new Array(count).fill(0), b: [] });
    expect(shapeErrorOf(inTwo(998))).toBeNull();
    expect(shapeErrorOf(inTwo(999))).toBe('too many values');
    expect(shapeErrorOf(new Array(1000).fill([1]))).toBe('too many values');
    const fields = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${i}`, 1]));
    expect(shapeErrorOf(fields)).toBe('too many values');
  });
});

describe('The shape of a large body', () => {
  const errorOf = (text: string) => largeShapeErrorOf(Buffer.from(text));

  it('is valid with 100 levels, and too deep beyond', () => {
    expect(errorOf('['.repeat(100))).toBeNull();
    expect(errorOf('['.repeat(101))).toBe('too deep');
    expect(errorOf('{"a":[]}'.repeat(1000))).toBeNull();
  });

  it('is valid with 500,000 values, and too large beyond', () => {
    expect(errorOf(`[${'1,'.repeat(499_999)}`)).toBeNull();
    expect(errorOf(`[${'1,'.repeat(500_000)}`)).toBe('too many values');
    expect(errorOf('{}'.repeat(500_001))).toBe('too many values');
  });

  it('does not depend on the contents of texts', () => {
    const text = JSON.stringify({ text: '[{,"\\'.repeat(200_000), after: 1 });
    expect(errorOf(text)).toBeNull();
    expect(errorOf(`${text}${'['.repeat(101)}`)).toBe('too deep');
  });
});

describe('The invalid field', () => {
  it('is named, unless the body itself is invalid', () => {
    expect(invalidField({ url: 'x', events: new Array(5000).fill('a.b') })).toBe('events');
    expect(invalidField({ [`a${'b'.repeat(100)}`]: nested(20) })).toBe(`a${'b'.repeat(63)}`);
    expect(invalidField(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${i}`, 1])))).toBeUndefined();
    for (const body of [nested(20), null, 5]) expect(invalidField(body)).toBeUndefined();
  });
});
