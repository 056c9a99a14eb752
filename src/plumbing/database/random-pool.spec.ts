import { randomFillSync } from 'node:crypto';
import { randomPool } from './random-pool';

describe('A pool of random bytes', () => {
  it('gives sixteen at a time, and never the same, however often it is filled', () => {
    const next = randomPool(randomFillSync);
    const all = Array.from({ length: 2000 }, () => Buffer.from(next()).toString('hex'));
    expect(new Set(all.map(({ length }) => length))).toEqual(new Set([32]));
    expect(new Set(all).size).toBe(2000);
  });

  it('is filled once for as many as it holds', () => {
    const fill = jest.fn();
    const next = randomPool(fill);
    for (let i = 0; i < 257; i++) next();
    expect(fill).toHaveBeenCalledTimes(2);
  });
});
