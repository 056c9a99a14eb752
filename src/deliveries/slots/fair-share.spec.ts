import type { Lane } from '../lane';
import { FairShare } from './fair-share';

const lane = (webhookId: string, userId = `owner of ${webhookId}`): Lane => ({ webhookId, userId });

/** How many attempts of this lane begin before it may begin no more. */
function fill(share: FairShare, of: Lane): number {
  let began = 0;
  for (; share.mayBegin(of); began += 1) share.begin(of, 0);
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
    while (share.mayBegin(lane(`webhook ${newcomers}`))) fill(share, lane(`webhook ${newcomers++}`));
    expect(share.free).toBe(0);
    expect(newcomers).toBeGreaterThan(2);
  });

  it('halves the cap at each slow attempt, down to one, and doubles it at each fast one', () => {
    const share = new FairShare(1000, 100);
    const caps = ['slow', 'slow', 'slow', 'slow', 'slow', 'slow', 'slow', 'slow', 'fast', 'fast'] as const;
    const seen = caps.map((pace) => {
      share.begin(lane('a'), 0);
      share.end(lane('a'), pace, 0);
      const cap = fill(share, lane('a'));
      for (let i = 0; i < cap; i++) share.end(lane('a'), null, 0);
      return cap;
    });
    expect(seen).toEqual([50, 25, 12, 6, 3, 1, 1, 1, 2, 4]);
  });

  it('knows which webhooks are slow, until they are as fast as before', () => {
    const share = new FairShare(10, 2);
    expect(share.isStuck(lane('a'), 0)).toBe(false);
    share.begin(lane('a'), 0);
    share.end(lane('a'), 'slow', 0);
    expect(share.isStuck(lane('a'), 0)).toBe(true);
    share.begin(lane('a'), 0);
    share.end(lane('a'), 'fast', 0);
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
    const share = new FairShare(10, 4);
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
