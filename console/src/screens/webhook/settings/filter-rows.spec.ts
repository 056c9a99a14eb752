import fc from 'fast-check';
import { type Condition, conditionsOf, filterOf } from './filter-rows';

const row = (path: string, operator: Condition['operator'], value: string): Condition => ({ path, operator, value });

describe('conditions of a filter as rows', () => {
  it('make the shortest filter', () => {
    const rows = [
      row('data.amountCents', 'gte', '1000'),
      row('data.amountCents', 'lt', '5e3'),
      row(' data.status ', 'in', 'paid, refunded'),
      row('event', 'eq', 'order.paid'),
      row('data.test', 'exists', 'false'),
    ];
    expect(filterOf(rows)).toEqual({
      filter: {
        'data.amountCents': { gte: 1000, lt: 5000 },
        'data.status': ['paid', 'refunded'],
        event: 'order.paid',
        'data.test': { exists: false },
      },
    });
    expect(filterOf([])).toEqual({ filter: null });
  });

  it.each([
    ['5', 5],
    ['"5"', '5'],
    ['true', true],
    ['null', null],
    ['', ''],
    ['{"a":1}', '{"a":1}'],
    ['1e999', '1e999'],
    [' gold ', 'gold'],
  ])('take %j for %j', (text, value) => {
    expect(filterOf([row('data.a', 'eq', text)])).toEqual({ filter: { 'data.a': value } });
  });

  it.each([
    ['a, "b, c" , 5, "5",', ['a', 'b, c', 5, '5']],
    ['say "hi", now', ['say "hi"', 'now']],
    [' , ', []],
  ])('take the list %j for %j', (text, list) => {
    expect(filterOf([row('data.a', 'nin', text)])).toEqual({ filter: { 'data.a': { nin: list } } });
  });

  it('are refused when an operator is repeated for a path', () => {
    const rows = [row('data.a', 'ne', 'x'), row('data.b', 'ne', 'x'), row('data.a ', 'ne', 'y')];
    expect(filterOf(rows)).toEqual({ repeated: 2 });
  });

  it.each([[{ any: [{ event: 'a.b' }] }], [{ 'data.a': { like: 'x' } }], [{ 'data.a': { gte: [1] } }]])(
    'cannot show %j',
    (filter) => {
      expect(conditionsOf(filter)).toBeNull();
    },
  );

  it('show a filter so that it stays the same', () => {
    const scalar = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    );
    const list = fc.array(scalar, { minLength: 1 });
    const operators = fc.oneof(scalar, list, fc.record({ gte: scalar, ne: scalar, nin: list }));
    const path = fc.string().filter((text) => text === text.trim() && text !== 'any' && text !== '__proto__');
    fc.assert(
      fc.property(fc.dictionary(path, operators, { minKeys: 1 }), (filter) => {
        const copy = JSON.parse(JSON.stringify(filter)) as typeof filter;
        expect(filterOf(conditionsOf(copy)!)).toEqual({ filter: copy });
      }),
    );
  });
});
