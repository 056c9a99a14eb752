import { type Change, ChangeFeed } from './change-feed';
import type { ChangePosition } from './change-position';

const at = (base: number): ChangePosition => ({ history: '7.1', base: `${base}:${base}:`, upTo: null });
/** Poll n returns this many changes after position n, and ends at n + 1. */
const polled = (n: number, count: number) => {
  const changes = Array.from({ length: count }, (_, i) => {
    const upTo = { target: at(n + 1).base, changedIn: String(n), id: `${n}-${i}`, isWhole: true };
    return { row: {} as Change['row'], position: { ...at(n), upTo } };
  });
  return { from: at(n), changes, to: at(n + 1) };
};
const idsOf = (changes: Change[] | null) => changes && changes.map(({ position }) => position.upTo?.id);

describe('A change feed', () => {
  const feed = () => {
    const feed = new ChangeFeed(at(1), 0);
    feed.append(polled(1, 2), 1000);
    feed.append(polled(2, 0), 2000);
    feed.append(polled(3, 2), 3000);
    return feed;
  };

  it('continues from the start of a poll, from any change in it, and from its end', () => {
    expect(idsOf(feed().after(at(1)))).toEqual(['1-0', '1-1', '3-0', '3-1']);
    expect(idsOf(feed().after(polled(1, 2).changes[0]!.position))).toEqual(['1-1', '3-0', '3-1']);
    expect(idsOf(feed().after(polled(1, 2).changes[1]!.position))).toEqual(['3-0', '3-1']);
    expect(idsOf(feed().after(at(2)))).toEqual(['3-0', '3-1']);
    expect(idsOf(feed().after(at(4)))).toEqual([]);
  });

  it('returns null for a position that it does not hold', () => {
    const old = feed();
    old.append(polled(4, 1), 11_500);
    expect(old.after(at(1))).toBeNull();
    expect(idsOf(old.after(at(3)))).toEqual(['3-0', '3-1', '4-0']);
    expect(old.after(at(9))).toBeNull();
  });

  it('returns the time since its last update', () => {
    expect(feed().ageMs(3500)).toBe(500);
  });
});
