import { oncePerChange } from './once-per-change';

describe('oncePerChange', () => {
  const [a, b] = [{ name: 'a' }, { name: 'b' }];

  it('calls make once for the same items in the same order', () => {
    const make = jest.fn((items: readonly { name: string }[]) => items.map(({ name }) => name).join());
    const made = oncePerChange(make);
    expect([made([a, b]), made([a, b]), made([...[a, b]])]).toEqual(['a,b', 'a,b', 'a,b']);
    expect(make).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['another item', [a, { name: 'b' }]],
    ['another order', [b, a]],
    ['one more', [a, b, a]],
    ['one fewer', [a]],
    ['none', []],
  ])('calls make again for %s', (_, items) => {
    const made = oncePerChange((given: readonly object[]) => ({ count: given.length }));
    const before = made([a, b]);
    expect(made(items)).not.toBe(before);
    expect(made(items)).toEqual({ count: items.length });
  });

  it('notices a list that the caller has changed in place', () => {
    const items = [a];
    const made = oncePerChange((given: readonly object[]) => given.length);
    expect(made(items)).toBe(1);
    items.push(b);
    expect(made(items)).toBe(2);
  });

  it('keeps no result of a failed call', () => {
    let isBroken = true;
    const made = oncePerChange(() => {
      if (isBroken) throw new Error('broken');
      return 'made';
    });
    expect(() => made([])).toThrow('broken');
    isBroken = false;
    expect(made([])).toBe('made');
  });
});
