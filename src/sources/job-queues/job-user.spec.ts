import fc from 'fast-check';
import { jobAudienceOf, jobUserOf } from './job-user';

const none = { is: 'none', id: null } as const;
const unusable = { is: 'unusable', id: null } as const;
const unknown = { is: 'unknown', id: null } as const;
const alice = { is: 'named', id: 'alice' } as const;

describe('The user of a job', () => {
  it.each<[unknown, object]>([
    ['alice', alice],
    ['auth0|a@b.example', { is: 'named', id: 'auth0|a@b.example' }],
    [42, { is: 'named', id: '42' }],
    [-1, { is: 'named', id: '-1' }],
    [undefined, none],
    [null, none],
    ['', unusable],
    ['two words', unusable],
    ['a'.repeat(129), unusable],
    [1.5, unusable],
    [2 ** 60, unusable],
    [true, unusable],
    [['alice'], unusable],
    [{ id: 'alice' }, unusable],
  ])('named by %j', (userId, expected) => {
    expect(jobUserOf(userId)).toEqual(expected);
  });
});

describe("The audience of a job's events", () => {
  it.each([
    [alice, null, 'alice'],
    [alice, 'admin', 'alice'],
    [none, null, null],
    [none, 'admin', 'admin'],
    [unusable, 'admin', 'admin'],
    [unknown, 'admin', 'admin'],
  ] as const)('for %j and the fallback %j is %j', (user, fallback, userId) => {
    expect(jobAudienceOf(user, fallback, false)).toEqual({ userId });
    expect(jobAudienceOf(user, fallback, true)).toEqual({ userId });
  });

  it('is all users for a job that was gone, unless jobs of its queue name users', () => {
    expect(jobAudienceOf(unknown, null, false)).toEqual({ userId: null });
    expect(jobAudienceOf(unknown, null, true)).toBeNull();
  });

  it('is never all users when the job has a user', () => {
    const names = fc.jsonValue().filter((value) => value !== null);
    fc.assert(
      fc.property(names, fc.boolean(), (userId, queueNamesUsers) => {
        const audience = jobAudienceOf(jobUserOf(userId), null, queueNamesUsers);
        expect(audience === null || audience.userId !== null).toBe(true);
      }),
    );
  });
});
