import { faultyField, largeShapeFaultOf, shapeFaultOf } from './body-shape';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

describe('The shape of a body', () => {
  it.each([null, 5, 'text', true, {}, [], { a: { b: [1, 2, { c: null }] } }])('of %j is fine', (body) => {
    expect(shapeFaultOf(body)).toBeNull();
  });

  it('is fine at 16 levels, and too deep beyond', () => {
    expect(shapeFaultOf(nested(16))).toBeNull();
    for (const depth of [17, 5000, 20_000]) expect(shapeFaultOf(nested(depth))).toBe('too deep');
  });

  it('is fine with 1,000 values, and too large beyond, wherever they are', () => {
    expect(shapeFaultOf(new Array(1000).fill(0))).toBeNull();
    expect(shapeFaultOf(new Array(1001).fill(0))).toBe('too many values');
    const inTwo = (count: number) => ({ a: new Array(count).fill(0), b: [] });
    expect(shapeFaultOf(inTwo(998))).toBeNull();
    expect(shapeFaultOf(inTwo(999))).toBe('too many values');
    expect(shapeFaultOf(new Array(1000).fill([1]))).toBe('too many values');
    const fields = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${i}`, 1]));
    expect(shapeFaultOf(fields)).toBe('too many values');
  });
});

describe('The shape of a large body', () => {
  const faultOf = (text: string) => largeShapeFaultOf(Buffer.from(text));

  it('is fine with 100 levels, and too deep beyond', () => {
    expect(faultOf('['.repeat(100))).toBeNull();
    expect(faultOf('['.repeat(101))).toBe('too deep');
    expect(faultOf('{"a":[]}'.repeat(1000))).toBeNull();
  });

  it('is fine with 500,000 values, and too large beyond', () => {
    expect(faultOf(`[${'1,'.repeat(499_999)}`)).toBeNull();
    expect(faultOf(`[${'1,'.repeat(500_000)}`)).toBe('too many values');
    expect(faultOf('{}'.repeat(500_001))).toBe('too many values');
  });

  it('does not depend on what texts hold', () => {
    const text = JSON.stringify({ text: '[{,"\\'.repeat(200_000), after: 1 });
    expect(faultOf(text)).toBeNull();
    expect(faultOf(`${text}${'['.repeat(101)}`)).toBe('too deep');
  });
});

describe('The field at fault', () => {
  it('is named when there is one, and not when the body itself is', () => {
    expect(faultyField({ url: 'x', events: new Array(5000).fill('a.b') })).toBe('events');
    expect(faultyField({ [`a${'b'.repeat(100)}`]: nested(20) })).toBe(`a${'b'.repeat(63)}`);
    expect(faultyField(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${i}`, 1])))).toBeUndefined();
    for (const body of [nested(20), null, 5]) expect(faultyField(body)).toBeUndefined();
  });
});
