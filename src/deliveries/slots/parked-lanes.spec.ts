import { ParkedLanes } from './parked-lanes';
import { FairShare } from './fair-share';

function backlog(...lanes: [userId: string, webhookId: string][]): ParkedLanes {
  const made = new ParkedLanes();
  for (const [userId, webhookId] of lanes) made.add({ userId, webhookId });
  return made;
}

/** Takes as many as there are slots. */
function slots(count: number): () => boolean {
  let left = count;
  return () => left-- > 0;
}

const counts = (of: { webhookId: string; count: number }[]) => of.map(({ webhookId, count }) => [webhookId, count]);

describe('The backlog', () => {
  it('lets in user by user, however many webhooks one of them has', () => {
    const parked = backlog(['one', 'a'], ['one', 'b'], ['one', 'c'], ['two', 'd']);
    expect(counts(parked.next(slots(6)))).toEqual([
      ['a', 1],
      ['d', 3],
      ['b', 1],
      ['c', 1],
    ]);
  });

  it('goes on where it stopped, so that with one slot each comes to his turn', () => {
    const parked = backlog(['one', 'a'], ['two', 'b'], ['three', 'c'], ['one', 'd']);
    const turns = Array.from({ length: 6 }, () => parked.next(slots(1))[0]?.webhookId);
    expect(turns).toEqual(['a', 'b', 'c', 'd', 'b', 'c']);
  });

  it('passes over those who may not begin', () => {
    const parked = backlog(['one', 'slow'], ['one', 'fast'], ['two', 'other']);
    const share = new FairShare(9, 3);
    share.begin({ userId: 'one', webhookId: 'slow' }, 0);
    share.end({ userId: 'one', webhookId: 'slow' }, 'slow', 0);
    const letIn = parked.next((lane) => {
      const may = share.mayBegin(lane);
      if (may) share.begin(lane, 0);
      return may;
    });
    expect(letIn.find(({ webhookId }) => webhookId === 'slow')?.count).toBe(1);
    expect(letIn.find(({ webhookId }) => webhookId === 'fast')?.count).toBeGreaterThan(1);
    expect(letIn.find(({ webhookId }) => webhookId === 'other')?.count).toBeGreaterThan(1);
  });

  it('knows a webhook once, until it is removed', () => {
    const parked = backlog(['one', 'a'], ['one', 'a']);
    expect([parked.size, parked.has('a')]).toEqual([1, true]);
    parked.remove('a');
    parked.remove('a');
    expect([parked.size, parked.has('a'), parked.next(() => true)]).toEqual([0, false, []]);
  });
});
