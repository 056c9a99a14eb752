import type { Principal } from '../auth/access-token';
import { endRevoked, LongPolls, type Poll, tokensOf } from './long-polls.timer';

interface Request extends Poll {
  topic: string;
}

const NOW = new Date('2026-01-15T09:30:00Z');
const request = (topic: string, principal: Partial<Principal> = {}, waitMs = 10_000): Request => ({
  topic,
  principal: { userId: 'ada', tokenId: 't', scopes: [], expiresAt: null, ...principal } as Principal,
  waitMs,
  signal: new AbortController().signal,
});

describe('Requests that wait', () => {
  let polls: LongPolls<Request>;
  /** Answers when the request is due or its wait is over. */
  const wait = (asked: Request) =>
    polls.wait(asked, async ({ isDue }, isOver) => (isDue ? 'found' : isOver ? 'over' : null));

  beforeEach(() => {
    const limits = [
      [2, ({ topic }: Request) => topic],
      [3, null],
    ] as const;
    polls = new LongPolls(() => NOW, limits, 'Too many.');
  });
  afterEach(() => polls.stop());

  it('are answered when they are woken with something, and when their time is over', async () => {
    const [due, over] = [wait(request('a')), wait(request('a', {}, 20))];
    expect(polls.all).toHaveLength(2);
    await expect(over).resolves.toBe('over');
    for (const each of polls.all) Object.assign(each, { isDue: true }).wake();
    await expect(due).resolves.toBe('found');
    expect(polls.all).toEqual([]);
  });

  it('are limited by key, and all together', async () => {
    const waiting = [wait(request('a')), wait(request('a'))];
    await expect(wait(request('a'))).rejects.toMatchObject({ code: 'rate_limited', message: 'Too many.' });
    waiting.push(wait(request('b')));
    await expect(wait(request('c'))).rejects.toMatchObject({ code: 'rate_limited' });
    polls.stop();
    await expect(Promise.all(waiting)).resolves.toEqual(['over', 'over', 'over']);
  });

  it('end when their client disconnects, or their token is revoked or expires', async () => {
    const client = new AbortController();
    const disconnected = wait({ ...request('a'), signal: client.signal });
    client.abort();
    await expect(disconnected).resolves.toBe('over');

    const revoked = wait(request('a', { tokenId: 'gone' }));
    const kept = wait(request('a'));
    expect(tokensOf(polls.all)).toEqual(['gone', 't']);
    endRevoked(polls.all, ['t']);
    for (const each of polls.all) each.wake();
    await expect(revoked).rejects.toMatchObject({ code: 'unauthenticated' });

    await expect(wait(request('b', { expiresAt: NOW }))).rejects.toMatchObject({ code: 'unauthenticated' });
    polls.stop();
    await expect(kept).resolves.toBe('over');
  });
});
