import { parsePushedFollowers } from './pushed-followers';

const ADA = { id: '1', username: 'ada' };
const problemOf = (body: unknown): string => {
  try {
    parsePushedFollowers(body);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('parsePushedFollowers', () => {
  it('reads followers as they are', () => {
    const followers = [
      ADA,
      { id: '2', username: 'bob', displayName: '' },
      { id: '3', username: 'c', displayName: 'C' },
    ];
    expect(parsePushedFollowers({ followers })).toEqual(followers);
    expect(parsePushedFollowers({ followers: [] })).toEqual([]);
  });

  it.each<[unknown, string]>([
    [undefined, 'followers must be a list'],
    [[], 'followers must be a list'],
    [{ followers: {}, more: 1 }, 'more is not a known field; followers must be a list'],
    [{ followers: [ADA], more: 1 }, 'more is not a known field'],
    [{ followers: [ADA, ADA] }, 'followers.1.id is repeated'],
    [{ followers: [null] }, 'followers.0.id must be a string'],
    [{ followers: [{ ...ADA, constructor: 1 }] }, 'followers.0.constructor is not a known field'],
  ])('refuses %j: %s', (body, problem) => {
    expect(problemOf(body)).toBe(problem);
  });

  it.each(['', 'x'.repeat(513), 'a\0', '\ud800', 5, null])('refuses %j as id, username or displayName', (text) => {
    expect(problemOf({ followers: [{ ...ADA, id: text }] })).toMatch(/^followers\.0\.id must be/);
    expect(problemOf({ followers: [{ ...ADA, username: text }] })).toMatch(/^followers\.0\.username must be/);
    if (text !== '') {
      expect(problemOf({ followers: [{ ...ADA, displayName: text }] })).toMatch(/^followers\.0\.displayName must be/);
    }
  });

  it('names ten faults of a hundred thousand', () => {
    const followers = Array.from({ length: 100_000 }, () => ({}));
    expect(problemOf({ followers }).split('; ')).toHaveLength(10);
  });
});
