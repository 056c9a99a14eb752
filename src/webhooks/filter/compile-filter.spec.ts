import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFilter, matches } from './compile-filter';
import { type EventFilter, parseFilter } from './event-filter';
import { explainFilter } from './explain-filter';
import { valuesOf } from './filter-path';

/** Returns a filter that passes validation, as all stored ones do. */
function filterOf(value: unknown): EventFilter {
  const verdict = parseFilter(value);
  if (!verdict.ok || verdict.filter === null) throw new Error(JSON.stringify(verdict));
  return verdict.filter;
}

function matchesData(filter: unknown, data: unknown): boolean {
  const event = { event: 'order.paid', userId: 'user-1', data };
  const result = matches(compileFilter(filterOf(filter)), valuesOf(event));
  expect(explainFilter(filterOf(filter), event).matches).toBe(result);
  return result;
}

describe('The table in docs/filters.md', () => {
  const page = readFileSync(join(__dirname, '../../../docs/filters.md'), 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => /^\| \d/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .map(([, number = '', filter = '', data = '', result = '']) => [number, filter, data, result] as const);

  it('has 20 rows', () => {
    expect(rows.map(([number]) => Number(number))).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  it.each(rows)('is right in row %s: %s with %s %s', (_, filter, data, result) => {
    expect(matchesData(JSON.parse(filter), JSON.parse(data)) ? 'matches' : 'does not').toBe(result);
  });
});

describe('matches', () => {
  const VALUES = [null, true, false, 0, 1, 2, '', '1', 'a', 'ab', 'null', {}, { eq: 1 }];

  it.each([
    [null, [null]],
    [true, [true]],
    [0, [0]],
    [-0, [0]],
    ['', ['']],
    ['1', ['1']],
    [{ eq: 1 }, [1]],
    [{ in: [1, '1', null] }, [null, 1, '1']],
    [{ ne: 1 }, VALUES.filter((value) => value !== 1)],
    [{ nin: [1, 2, null] }, VALUES.filter((value) => ![1, 2, null].includes(value as number))],
    [{ gt: 1 }, [2]],
    [{ gte: 1 }, [1, 2]],
    [{ lt: 1 }, [0]],
    [{ lte: 1 }, [0, 1]],
    [{ gt: 0, lt: 2 }, [1]],
    [{ prefix: 'a' }, ['a', 'ab']],
    [{ prefix: '' }, ['', '1', 'a', 'ab', 'null']],
    [{ suffix: 'b' }, ['ab']],
    [{ prefix: 'a', suffix: 'b', ne: 'ab' }, []],
    [{ exists: true }, VALUES],
    [{ exists: false }, []],
    [{ exists: true, ne: null }, VALUES.slice(1)],
  ])('%j accepts %j', (condition, accepted) => {
    expect(VALUES.filter((value) => matchesData({ 'data.a': condition }, { a: value }))).toEqual(accepted);
  });

  it.each([
    [{ exists: false }, true],
    [{ ne: null }, true],
    [{ nin: [null, 1] }, true],
    [{ ne: 1, nin: [2], exists: false }, true],
    [{ exists: true }, false],
    [{ exists: true, ne: 1 }, false],
    [null, false],
    [{ eq: null }, false],
    [{ in: [null] }, false],
    [{ lt: 1 }, false],
    [{ lte: 0 }, false],
    [{ prefix: '' }, false],
    [{ suffix: '' }, false],
  ])('of %j a missing path, an empty array and a second array are %p', (condition, expected) => {
    for (const data of [{}, { a: [] }, { a: [[], [1], [null]] }]) {
      expect(matchesData({ 'data.a': condition }, data)).toBe(expected);
    }
  });

  it.each([
    [{ gte: 10, lt: 20 }, [5, 25], false],
    [{ gte: 10, lt: 20 }, [5, 15, 25], true],
    [{ prefix: 'a', suffix: 'z' }, ['ab', 'yz'], false],
    [{ gt: 1, ne: 1 }, [1, 2], false],
    [{ gt: 1, ne: 3 }, [1, 2], true],
    [{ ne: 1 }, [2, 3], true],
    [{ nin: [1] }, [2, 1], false],
    [{ exists: true, nin: [1] }, [2], true],
    [{ exists: false }, [null], false],
  ])('%j of the elements %j is %p', (condition, elements, expected) => {
    expect(matchesData({ 'data.a': condition }, { a: elements })).toBe(expected);
    expect(matchesData({ 'data.a.b': condition }, { a: elements.map((b) => ({ b })) })).toBe(expected);
  });

  it('ignores elements after the first 100', () => {
    const zeros = Array<number>(100).fill(0);
    expect(matchesData({ 'data.a': 1 }, { a: [...zeros.slice(1), 1] })).toBe(true);
    expect(matchesData({ 'data.a': 1 }, { a: [...zeros, 1] })).toBe(false);
    expect(matchesData({ 'data.a': { ne: 1 } }, { a: [...zeros, 1] })).toBe(true);
  });

  it('reads own properties only', () => {
    for (const path of ['data.__proto__', 'data.constructor', 'data.a.length', 'data.s.length', 'data.s.0']) {
      expect(matchesData({ [path]: { exists: true } }, { a: [1], s: 'text' })).toBe(false);
    }
    const own = JSON.parse('{"__proto__":{"admin":true},"constructor":1}') as unknown;
    expect(matchesData({ 'data.__proto__.admin': true, 'data.constructor': 1 }, own)).toBe(true);
    expect(matchesData({ 'data.admin': { exists: false } }, own)).toBe(true);
  });

  it('compares event and userId', () => {
    expect(matchesData({ event: 'order.paid', userId: { prefix: 'user-' } }, {})).toBe(true);
    expect(matchesData({ userId: null }, {})).toBe(false);
    const toAll = { event: 'order.paid', userId: null, data: {} };
    expect(matches(compileFilter(filterOf({ userId: null })), valuesOf(toAll))).toBe(true);
  });

  it('needs all conditions, and one alternative of any', () => {
    const filter = { 'data.a': 1, any: [{ 'data.b': 1, 'data.c': 1 }, { 'data.d': 1 }] };
    expect(matchesData(filter, { a: 1, d: 1 })).toBe(true);
    expect(matchesData(filter, { a: 1, b: 1, c: 1 })).toBe(true);
    expect(matchesData(filter, { a: 1, b: 1 })).toBe(false);
    expect(matchesData(filter, { d: 1 })).toBe(false);
    expect(matchesData({ any: [{ 'data.b': 1 }] }, { a: 1 })).toBe(false);
  });
});
