import type { Lane } from '../lane';
import { LaneTurns } from './lane-turns';
import { FairShare } from './fair-share';

function waiting(...lanes: [userId: string, webhookId: string][]): LaneTurns {
  const made = new LaneTurns();
  for (const [userId, webhookId] of lanes) made.add({ userId, webhookId });
  return made;
}

/** Takes as many as there are slots. */
function slots(count: number): () => boolean {
  let left = count;
  return () => left-- > 0;
}

const counts = (of: { webhookId: string; count: number }[]) => of.map(({ webhookId, count }) => [webhookId, count]);

describe('Lanes that wait', () => {
  it('lets in user by user, however many webhooks one of them has', () => {
    const turns = waiting(['one', 'a'], ['one', 'b'], ['one', 'c'], ['two', 'd']);
    expect(counts(turns.next(slots(6)))).toEqual([
      ['a', 1],
      ['d', 3],
      ['b', 1],
      ['c', 1],
    ]);
  });

  it('goes on where it stopped, so that with one slot each comes to his turn', () => {
    const lanes = waiting(['one', 'a'], ['two', 'b'], ['three', 'c'], ['one', 'd']);
    const turns = Array.from({ length: 6 }, () => lanes.next(slots(1))[0]?.webhookId);
    expect(turns).toEqual(['a', 'b', 'c', 'd', 'b', 'c']);
  });

  it('passes over those who may not begin', () => {
    const turns = waiting(['one', 'slow'], ['one', 'fast'], ['two', 'other']);
    const share = new FairShare(9, 3);
    const [slow, waits] = ['slow', 'waits'].map((webhookId) => ({ userId: 'one', webhookId })) as [Lane, Lane];
    for (let i = 0; i < 9; i++) share.begin(slow, 0);
    share.mayBegin(waits, 0);
    for (let i = 0; i < 9; i++) share.end(slow, 'slow', 0);
    const letIn = turns.next((lane) => {
      const may = share.mayBegin(lane, 0);
      if (may) share.begin(lane, 0);
      return may;
    });
    expect(letIn.find(({ webhookId }) => webhookId === 'slow')?.count).toBe(1);
    expect(letIn.find(({ webhookId }) => webhookId === 'fast')?.count).toBeGreaterThan(1);
    expect(letIn.find(({ webhookId }) => webhookId === 'other')?.count).toBeGreaterThan(1);
  });

  it('knows a webhook once, until it is removed', () => {
    const turns = waiting(['one', 'a'], ['one', 'a']);
    expect([turns.size, turns.has('a')]).toEqual([1, true]);
    turns.remove('a');
    turns.remove('a');
    expect([turns.size, turns.has('a'), turns.next(() => true)]).toEqual([0, false, []]);
  });
});
