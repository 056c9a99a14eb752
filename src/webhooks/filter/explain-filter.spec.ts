import { explainFilter } from './explain-filter';
import type { Conditions, EventFilter } from './event-filter';

const explain = (filter: EventFilter, data: unknown) =>
  explainFilter(filter, { event: 'order.paid', userId: null, data });
const foundOf = (data: unknown, path = 'data.a') => explain({ [path]: 'other' }, data).failed[0]?.found;

describe('explainFilter', () => {
  it('lists nothing when the event matches', () => {
    expect(explain({ 'data.a': 1, any: [{ 'data.b': 1 }, { 'data.c': 1 }] }, { a: 1, c: 1 })).toEqual({
      matches: true,
      failed: [],
    });
  });

  it('lists each failed operator with what it expected and found', () => {
    const filter = { 'data.a': { gte: 5, lt: 10, ne: 1 }, 'data.b': ['x', 'y'], 'data.c': null, event: 'order.paid' };
    expect(explain(filter, { a: 1, b: 'z' })).toEqual({
      matches: false,
      failed: [
        { path: 'data.a', operator: 'gte', expected: 5, found: '1' },
        { path: 'data.a', operator: 'ne', expected: 1, found: '1' },
        { path: 'data.b', operator: 'in', expected: ['x', 'y'], found: '"z"' },
        { path: 'data.c', operator: 'eq', expected: null, found: null },
      ],
    });
  });

  it('lists the failures of all alternatives, if all fail', () => {
    const any: Conditions[] = [{ 'data.a': 1, 'data.b': 2 }, { 'data.a': 3 }];
    expect(explain({ any }, { a: 2, b: 2 }).failed).toEqual([
      { path: 'data.a', operator: 'eq', expected: 1, found: '2' },
      { path: 'data.a', operator: 'eq', expected: 3, found: '2' },
    ]);
    expect(explain({ 'data.c': 1, any }, { a: 3 }).failed).toMatchObject([{ path: 'data.c' }]);
  });

  it('lists all operators that no single element fulfills together', () => {
    expect(explain({ 'data.a': { gte: 10, lt: 20 } }, { a: [5, 25] }).failed).toEqual([
      { path: 'data.a', operator: 'gte', expected: 10, found: '[5,25]' },
      { path: 'data.a', operator: 'lt', expected: 20, found: '[5,25]' },
    ]);
    expect(explain({ 'data.a': { gte: 10, lt: 20 } }, { a: [5, 6] }).failed).toMatchObject([{ operator: 'gte' }]);
  });

  it.each([
    [{}, null],
    [{ a: null }, 'null'],
    [{ a: '5' }, '"5"'],
    [{ a: 5 }, '5'],
    [{ a: [] }, null],
    [{ a: ['x'] }, '"x"'],
    [{ a: ['x', 1] }, '["x",1]'],
    [{ a: { b: [1, { c: 'ü"' }], d: {} } }, '{"b":[1,{"c":"ü\\""}],"d":{}}'],
  ])('found in %j is %j', (data, found) => {
    expect(foundOf(data)).toBe(found);
  });

  it.each([
    ['a string', 'x'.repeat(300)],
    ['text of escapes', '\n"'.repeat(300)],
    ['numbers', Array(300).fill({ n: 12345 })],
    ['a list in an object', { list: Array(300).fill([1, [2]]) }],
    ['long names', { ['n'.repeat(300)]: 1 }],
    ['an object with many fields', Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`f${i}`, i]))],
    ['a depth of 10,000', JSON.parse(`{"o":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`) as unknown],
  ])('cuts %s to 256 characters of its JSON', (_, a) => {
    const deep = typeof a === 'object' && 'o' in (a ?? {});
    const text = deep ? `{"o":${'{"a":'.repeat(100)}` : JSON.stringify(a);
    expect(foundOf({ a })).toBe(`${text.slice(0, 255)}…`);
  });

  it('keeps 256 characters, and never half of a surrogate pair', () => {
    expect(foundOf({ a: 'x'.repeat(254) })).toBe(`"${'x'.repeat(254)}"`);
    expect(foundOf({ a: 'x'.repeat(255) })).toBe(`"${'x'.repeat(254)}…`);
    expect(foundOf({ a: `${'x'.repeat(253)}😀😀` })).toBe(`"${'x'.repeat(253)}…`);
  });
});
