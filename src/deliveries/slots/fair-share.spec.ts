import type { Lane } from '../lane';
import { FairShare } from './fair-share';

const lane = (webhookId: string, userId = `owner of ${webhookId}`): Lane => ({ webhookId, userId });

/** How many attempts of this lane begin before it may begin no more. */
function fill(share: FairShare, of: Lane): number {
  let began = 0;
  for (; share.mayBegin(of, 0); began += 1) share.begin(of, 0);
  return began;
}

describe('The fair share of the slots', () => {
  it('gives one webhook no more than its cap', () => {
    expect(fill(new FairShare(300, 100), lane('a'))).toBe(100);
  });

  it('gives one webhook no more than the slots that are still free', () => {
    expect(fill(new FairShare(10, 100), lane('a'))).toBe(6);
    expect(fill(new FairShare(1, 100), lane('a'))).toBe(1);
  });

  it('gives one user no more than the slots that are still free, over all his webhooks', () => {
    const share = new FairShare(300, 100);
    const webhooks = ['a', 'b', 'c', 'd'].map((id) => lane(id, 'one'));
    expect(webhooks.map((each) => fill(share, each))).toEqual([100, 51, 0, 0]);
    expect(fill(share, lane('other', 'two'))).toBe(75);
  });

  it('has a slot for a newcomer until all are taken', () => {
    const share = new FairShare(8, 8);
    let newcomers = 0;
    while (share.mayBegin(lane(`webhook ${newcomers}`), 0)) fill(share, lane(`webhook ${newcomers++}`));
    expect(share.free).toBe(0);
    expect(newcomers).toBeGreaterThan(2);
  });

  /** A share in which `other` has found no slot, at the time 0. */
  function contended(webhookCap: number): FairShare {
    const share = new FairShare(4 * webhookCap, webhookCap);
    const others = Array.from({ length: 4 * webhookCap }, (_, i) => lane(`other ${i}`));
    const began = others.map((each) => [each, fill(share, each)] as const);
    expect(share.free).toBe(0);
    for (const [each, count] of began) for (let i = 0; i < count; i++) share.end(each, null, 0);
    return share;
  }

  /** The cap of the webhook after each of these attempts. */
  function capsAfter(share: FairShare, paces: readonly ('slow' | 'fast')[], now: number): number[] {
    return paces.map((pace) => {
      share.begin(lane('a'), now);
      share.end(lane('a'), pace, now);
      const cap = fill(share, lane('a'));
      for (let i = 0; i < cap; i++) share.end(lane('a'), null, now);
      return cap;
    });
  }

  it('halves the cap at each slow attempt while others wait for slots, down to one, and doubles it at each fast one', () => {
    const paces = ['slow', 'slow', 'slow', 'slow', 'slow', 'slow', 'slow', 'slow', 'fast', 'fast'] as const;
    expect(capsAfter(contended(100), paces, 0)).toEqual([50, 25, 12, 6, 3, 1, 1, 1, 2, 4]);
  });

  it('leaves the cap of a slow webhook alone while nobody else waits for a slot', () => {
    const share = new FairShare(300, 100);
    expect(capsAfter(share, ['slow', 'slow', 'slow'], 0)).toEqual([100, 100, 100]);
  });

  it('does not count the webhook itself among those who wait', () => {
    const share = new FairShare(10, 100);
    expect(fill(share, lane('a'))).toBe(6);
    for (let i = 0; i < 6; i++) share.end(lane('a'), 'slow', 0);
    expect(fill(share, lane('a'))).toBe(6);
  });

  it('lets the cap rise again with slow attempts once nobody waits any more', () => {
    const share = contended(100);
    expect(capsAfter(share, ['slow', 'slow', 'slow'], 1000)).toEqual([50, 25, 12]);
    expect(capsAfter(share, ['slow', 'slow', 'slow', 'slow'], 1001)).toEqual([24, 48, 96, 100]);
  });

  it('knows whose cap has fallen, until it is what it was', () => {
    const share = contended(2);
    expect(share.isStuck(lane('a'), 0)).toBe(false);
    capsAfter(share, ['slow'], 0);
    expect(share.isStuck(lane('a'), 0)).toBe(true);
    capsAfter(share, ['fast'], 0);
    expect(share.isStuck(lane('a'), 0)).toBe(false);
  });

  it('takes a webhook for stuck while all its attempts are in flight and none ends', () => {
    const share = new FairShare(10, 2);
    for (let i = 0; i < 2; i++) share.begin(lane('a'), 1000);
    expect([1000, 1200, 1201].map((now) => share.isStuck(lane('a'), now))).toEqual([false, false, true]);
    share.end(lane('a'), 'fast', 1300);
    share.begin(lane('a'), 1300);
    expect([1400, 1501].map((now) => share.isStuck(lane('a'), now))).toEqual([false, true]);
    share.end(lane('a'), 'fast', 1600);
    expect(share.isStuck(lane('a'), 9999)).toBe(false);
  });

  it('forgets the pace of webhooks that have nothing in flight', () => {
    const share = contended(4);
    for (const id of ['idle', 'busy']) {
      share.begin(lane(id), 0);
      share.end(lane(id), 'slow', 0);
    }
    share.begin(lane('busy'), 0);
    share.forgetIdle();
    expect([share.isStuck(lane('idle'), 0), share.isStuck(lane('busy'), 0)]).toEqual([false, true]);
  });

  it('gets every slot back', () => {
    const share = new FairShare(10, 4);
    const began = fill(share, lane('a'));
    for (let i = 0; i < began; i++) share.end(lane('a'), 'fast', 0);
    expect(share.free).toBe(10);
  });
});
