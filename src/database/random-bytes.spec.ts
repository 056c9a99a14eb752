import { randomBytes16 } from './random-bytes.service';

describe('Sixteen random bytes', () => {
  it('are sixteen, and never the same, however often the pool is filled', () => {
    const all = Array.from({ length: 2000 }, () => Buffer.from(randomBytes16()).toString('hex'));
    expect(new Set(all.map(({ length }) => length))).toEqual(new Set([32]));
    expect(new Set(all).size).toBe(2000);
  });
});
