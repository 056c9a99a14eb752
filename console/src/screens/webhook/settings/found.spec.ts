import { foundText, pathsOf } from './found';

const EVENT = {
  event: 'order.paid',
  userId: null,
  data: {
    amount: 5,
    tags: ['a', 'b'],
    empty: [],
    lines: [{ sku: 'x' }, { sku: 'y' }],
    grid: [[1], [2]],
    long: 'x'.repeat(300),
  },
};

describe('what a filter finds in an event', () => {
  it.each([
    ['event', '"order.paid"'],
    ['userId', 'null'],
    ['data.amount', '5'],
    ['data.missing', null],
    ['data.toString', null],
    ['data.tags', '["a","b"]'],
    ['data.lines.sku', '["x","y"]'],
    ['data.lines.0.sku', null],
    ['data.empty', null],
    ['data.grid', null],
  ])('at %s is %s', (path, text) => {
    expect(foundText(EVENT, path)).toBe(text);
  });

  it('is cut', () => {
    expect(foundText(EVENT, 'data.long')).toMatch(/^"x{254}…$/);
  });

  it('has paths to suggest', () => {
    const { long: _, ...data } = EVENT.data;
    expect(pathsOf(data, 'data')).toEqual(['data.amount', 'data.tags', 'data.lines.sku']);
  });
});
