import { FairQueue } from './fair-queue';

const item = (userId: string, n: number) => ({ userId, n });
const named = (items: { userId: string; n: number }[]) => items.map(({ userId, n }) => `${userId}${n}`).join(' ');

describe('A fair queue', () => {
  it('takes one item of each user in turn, and those of one user in their order', () => {
    const queue = new FairQueue<ReturnType<typeof item>>(100);
    for (const n of [1, 2, 3, 4]) queue.add(item('a', n));
    for (const n of [1, 2]) queue.add(item('b', n));
    queue.add(item('c', 1));
    expect(named(queue.take(4))).toBe('a1 b1 c1 a2');
    expect(named(queue.take(9))).toBe('b2 a3 a4');
    expect(queue.size).toBe(0);
  });

  it('gives one user at most half of its places, and the next half of the rest', () => {
    const queue = new FairQueue<ReturnType<typeof item>>(8);
    const added = (userId: string) => Array.from({ length: 8 }, (_, n) => queue.add(item(userId, n))).filter(Boolean);
    expect(['a', 'b', 'c', 'd'].map((userId) => added(userId).length)).toEqual([4, 2, 1, 1]);
  });

  it('tells for whom there would be no place among fewer', () => {
    const queue = new FairQueue<ReturnType<typeof item>>(100);
    for (let n = 0; n < 5; n++) queue.add(item('a', n));
    for (let n = 0; n < 2; n++) queue.add(item('b', n));
    expect([queue.crowded(20), queue.crowded(12), queue.crowded(9), queue.crowded(7)]).toEqual([
      [],
      ['a'],
      ['a', 'b'],
      null,
    ]);
  });

  it('leaves the items of users who may not take a turn', () => {
    const queue = new FairQueue<ReturnType<typeof item>>(100);
    for (const n of [1, 2, 3]) for (const userId of ['a', 'b']) queue.add(item(userId, n));
    let left = 1;
    expect(named(queue.take(9, (userId) => userId === 'b' || left-- > 0))).toBe('a1 b1 b2 b3');
    expect(queue.size).toBe(2);
  });
});
