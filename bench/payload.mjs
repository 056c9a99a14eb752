// The event that all workloads publish: an ordinary event of the catalogue.
export const EVENT = 'follower.gained';

export const dataOf = (i) => ({
  accountId: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90',
  follower: { id: String(109_302 + i), username: 'ada@example.social', displayName: 'Ada Lovelace' },
  followersCount: 1843 + i,
  observedAt: '2026-01-15T09:30:00.000Z',
});
