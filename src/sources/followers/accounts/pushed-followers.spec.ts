import { parsePushedFollowers } from './pushed-followers';

const noTurn = async () => undefined;
const ADA = { id: '1', username: 'ada' };
const problemOf = (body: unknown): Promise<string> =>
  parsePushedFollowers(body, noTurn).then(
    () => '',
    (error: Error) => error.message,
  );

describe('parsePushedFollowers', () => {
  it('returns followers unchanged', async () => {
    const followers = [
      ADA,
      { id: '2', username: 'bob', displayName: '' },
      { id: '3', username: 'c', displayName: 'C' },
    ];
    expect(await parsePushedFollowers({ followers }, noTurn)).toEqual(followers);
    expect(await parsePushedFollowers({ followers: [] }, noTurn)).toEqual([]);
  });

  it.each<[unknown, string]>([
    [undefined, 'followers must be a list'],
    [[], 'followers must be a list'],
    [{ followers: {}, more: 1 }, 'more is not a known field; followers must be a list'],
    [{ followers: [ADA], more: 1 }, 'more is not a known field'],
    [{ followers: [ADA, ADA] }, 'followers[1].id is repeated'],
    [{ followers: [null] }, 'followers[0].id must be a string'],
    [{ followers: [{ ...ADA, constructor: 1 }] }, 'followers[0].constructor is not a known field'],
  ])('rejects %j: %s', async (body, problem) => {
    expect(await problemOf(body)).toBe(problem);
  });

  it.each(['', 'x'.repeat(513), 'a\0', '\ud800', 5, null])(
    'rejects %j as id, username or displayName',
    async (text) => {
      expect(await problemOf({ followers: [{ ...ADA, id: text }] })).toMatch(/^followers\[0]\.id must be/);
      expect(await problemOf({ followers: [{ ...ADA, username: text }] })).toMatch(/^followers\[0]\.username must be/);
      if (text !== '') {
        expect(await problemOf({ followers: [{ ...ADA, displayName: text }] })).toMatch(
          /^followers\[0]\.displayName must be/,
        );
      }
    },
  );

  it('lists 20 of 100,000 errors', async () => {
    const followers = Array.from({ length: 100_000 }, () => ({}));
    expect((await problemOf({ followers })).split('; ')).toHaveLength(20);
  });

  it('yields to other requests every 10,000 followers', async () => {
    const followers = Array.from({ length: 100_000 }, (_, i) => ({ id: `${i}`, username: 'x' }));
    const turn = jest.fn(noTurn);
    await parsePushedFollowers({ followers }, turn);
    expect(turn).toHaveBeenCalledTimes(10);
  });
});
