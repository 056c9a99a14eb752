import { randomFillSync } from 'node:crypto';
import { randomPool } from './clock.service';

describe('A pool of random bytes', () => {
  it('returns sixteen bytes at a time, and never the same ones, however often it is refilled', () => {
    const next = randomPool(randomFillSync);
    const all = Array.from({ length: 2000 }, () => Buffer.from(next()).toString('hex'));
    expect(new Set(all.map(({ length }) => length))).toEqual(new Set([32]));
    expect(new Set(all).size).toBe(2000);
  });

  it('is refilled only when it is used up', () => {
    const fill = jest.fn();
    const next = randomPool(fill);
    for (let i = 0; i < 257; i++) next();
    expect(fill).toHaveBeenCalledTimes(2);
  });
});
