import type { PartitionKey } from '../rows/attempt';
import { RoundRobin } from './round-robin';
import { FairShare } from './fair-share';

function waiting(...keys: [userId: string, webhookId: string][]): RoundRobin {
  const made = new RoundRobin();
  for (const [userId, webhookId] of keys) made.add({ userId, webhookId });
  return made;
}

/** Acquires at most `count` slots. */
function slots(count: number): () => boolean {
  let left = count;
  return () => left-- > 0;
}

const counts = (of: { webhookId: string; count: number }[]) => of.map(({ webhookId, count }) => [webhookId, count]);

describe('Waiting webhooks in round robin', () => {
  it('get slots user by user, however many webhooks a user has', () => {
    const webhooks = waiting(['one', 'a'], ['one', 'b'], ['one', 'c'], ['two', 'd']);
    expect(counts(webhooks.next(slots(6)))).toEqual([
      ['a', 1],
      ['d', 3],
      ['b', 1],
      ['c', 1],
    ]);
  });

  it('continue where the last call stopped, so that each user gets a turn even with one slot', () => {
    const keys = waiting(['one', 'a'], ['two', 'b'], ['three', 'c'], ['one', 'd']);
    const webhooks = Array.from({ length: 6 }, () => keys.next(slots(1))[0]?.webhookId);
    expect(webhooks).toEqual(['a', 'b', 'c', 'd', 'b', 'c']);
  });

  it('with a limit get no more slots than that in one call, and others the rest', () => {
    const webhooks = waiting(['one', 'free']);
    webhooks.add({ userId: 'one', webhookId: 'limited' }, 2);
    expect(counts(webhooks.next(slots(8)))).toEqual([
      ['free', 6],
      ['limited', 2],
    ]);
    expect([webhooks.isLimited('free'), webhooks.isLimited('limited')]).toEqual([false, true]);
    webhooks.add({ userId: 'one', webhookId: 'limited' });
    expect(webhooks.isLimited('limited')).toBe(false);
    expect(counts(webhooks.next(slots(8)))).toEqual([
      ['limited', 4],
      ['free', 4],
    ]);
  });

  it('are skipped when they may not begin', () => {
    const webhooks = waiting(['one', 'slow'], ['one', 'fast'], ['two', 'other']);
    const share = new FairShare(9, 3);
    const [slow, waits] = ['slow', 'waits'].map((webhookId) => ({ userId: 'one', webhookId })) as [
      PartitionKey,
      PartitionKey,
    ];
    for (let i = 0; i < 9; i++) share.begin(slow, 0);
    share.mayBegin(waits, 0);
    for (let i = 0; i < 9; i++) share.end(slow, 'slow', 0);
    const grants = webhooks.next((key) => {
      const may = share.mayBegin(key, 0);
      if (may) share.begin(key, 0);
      return may;
    });
    expect(grants.find(({ webhookId }) => webhookId === 'slow')?.count).toBe(1);
    expect(grants.find(({ webhookId }) => webhookId === 'fast')?.count).toBeGreaterThan(1);
    expect(grants.find(({ webhookId }) => webhookId === 'other')?.count).toBeGreaterThan(1);
  });

  it('are listed once, until they are removed', () => {
    const webhooks = waiting(['one', 'a'], ['one', 'a']);
    expect([webhooks.size, webhooks.has('a')]).toEqual([1, true]);
    webhooks.remove('a');
    webhooks.remove('a');
    expect([webhooks.size, webhooks.has('a'), webhooks.next(() => true)]).toEqual([0, false, []]);
  });
});
