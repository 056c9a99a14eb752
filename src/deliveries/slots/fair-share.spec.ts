import type { PartitionKey } from '../rows/attempt';
import { FairShare } from './fair-share';

const key = (webhookId: string, userId = `owner of ${webhookId}`): PartitionKey => ({ webhookId, userId });

/** Begins attempts of this key until no more may begin. Returns their number. */
function fill(share: FairShare, of: PartitionKey): number {
  let began = 0;
  for (; share.mayBegin(of, 0); began += 1) share.begin(of, 0);
  return began;
}

describe('The fair share of the slots', () => {
  it('gives one webhook no more slots than its concurrency limit', () => {
    expect(fill(new FairShare(300, 100), key('a'))).toBe(100);
  });

  it('gives one webhook no more slots than are still free', () => {
    expect(fill(new FairShare(10, 100), key('a'))).toBe(6);
    expect(fill(new FairShare(1, 100), key('a'))).toBe(1);
  });

  it('gives one user no more slots than are still free, across all their webhooks', () => {
    const share = new FairShare(300, 100);
    const webhooks = ['a', 'b', 'c', 'd'].map((id) => key(id, 'one'));
    expect(webhooks.map((each) => fill(share, each))).toEqual([100, 51, 0, 0]);
    expect(fill(share, key('other', 'two'))).toBe(75);
  });

  it('has a slot for a new webhook until all are taken', () => {
    const share = new FairShare(8, 8);
    let newcomers = 0;
    while (share.mayBegin(key(`webhook ${newcomers}`), 0)) fill(share, key(`webhook ${newcomers++}`));
    expect(share.free).toBe(0);
    expect(newcomers).toBeGreaterThan(2);
  });

  /** A share in which `other` got no slot, at time 0. */
  function contended(webhookLimit: number): FairShare {
    const share = new FairShare(4 * webhookLimit, webhookLimit);
    const others = Array.from({ length: 4 * webhookLimit }, (_, i) => key(`other ${i}`));
    const began = others.map((each) => [each, fill(share, each)] as const);
    expect(share.free).toBe(0);
    for (const [each, count] of began) for (let i = 0; i < count; i++) share.end(each, null, 0);
    return share;
  }

  /** The concurrency limit of the webhook after each of these attempts. */
  function limitsAfter(share: FairShare, speeds: readonly ('slow' | 'fast')[], now: number): number[] {
    return speeds.map((speed) => {
      share.begin(key('a'), now);
      share.end(key('a'), speed, now);
      const limit = fill(share, key('a'));
      for (let i = 0; i < limit; i++) share.end(key('a'), null, now);
      return limit;
    });
  }

  it('halves the limit after each slow attempt while others wait for slots, down to one, and doubles it after each fast one', () => {
    const speeds = ['slow', 'slow', 'slow', 'slow', 'slow', 'slow', 'slow', 'slow', 'fast', 'fast'] as const;
    expect(limitsAfter(contended(100), speeds, 0)).toEqual([50, 25, 12, 6, 3, 1, 1, 1, 2, 4]);
  });

  it('keeps the limit of a slow webhook while no other webhook waits for a slot', () => {
    const share = new FairShare(300, 100);
    expect(limitsAfter(share, ['slow', 'slow', 'slow'], 0)).toEqual([100, 100, 100]);
  });

  it('does not count the webhook itself as waiting', () => {
    const share = new FairShare(10, 100);
    expect(fill(share, key('a'))).toBe(6);
    for (let i = 0; i < 6; i++) share.end(key('a'), 'slow', 0);
    expect(fill(share, key('a'))).toBe(6);
  });

  it('raises the limit again, even after slow attempts, once no other webhook waits', () => {
    const share = contended(100);
    expect(limitsAfter(share, ['slow', 'slow', 'slow'], 1000)).toEqual([50, 25, 12]);
    expect(limitsAfter(share, ['slow', 'slow', 'slow', 'slow'], 1001)).toEqual([24, 48, 96, 100]);
  });

  it('reports a webhook as stuck while its limit is lowered', () => {
    const share = contended(2);
    expect(share.isStuck(key('a'), 0)).toBe(false);
    limitsAfter(share, ['slow'], 0);
    expect(share.isStuck(key('a'), 0)).toBe(true);
    limitsAfter(share, ['fast'], 0);
    expect(share.isStuck(key('a'), 0)).toBe(false);
  });

  it('reports a webhook as stuck while it is at its limit and no attempt ends', () => {
    const share = new FairShare(10, 2);
    for (let i = 0; i < 2; i++) share.begin(key('a'), 1000);
    expect([1000, 1200, 1201].map((now) => share.isStuck(key('a'), now))).toEqual([false, false, true]);
    share.end(key('a'), 'fast', 1300);
    share.begin(key('a'), 1300);
    expect([1400, 1501].map((now) => share.isStuck(key('a'), now))).toEqual([false, true]);
    share.end(key('a'), 'fast', 1600);
    expect(share.isStuck(key('a'), 9999)).toBe(false);
  });

  it('resets the limits of webhooks without attempts in flight', () => {
    const share = contended(4);
    for (const id of ['idle', 'busy']) {
      share.begin(key(id), 0);
      share.end(key(id), 'slow', 0);
    }
    share.begin(key('busy'), 0);
    share.forgetIdle();
    expect([share.isStuck(key('idle'), 0), share.isStuck(key('busy'), 0)]).toEqual([false, true]);
  });

  it('has all slots free after all attempts have ended', () => {
    const share = new FairShare(10, 4);
    const began = fill(share, key('a'));
    for (let i = 0; i < began; i++) share.end(key('a'), 'fast', 0);
    expect(share.free).toBe(10);
  });
});
