import { ApiError } from '../../plumbing/errors/api-error';
import type { Principal } from '../access-token';
import { ALL_SCOPES } from '../scope';
import { type Grant, judgeGrant } from './token-grant';

const NOW = new Date('2026-01-15T09:30:00.000Z');
const after = (ms: number) => new Date(NOW.getTime() + ms);

const alice: Principal = {
  tokenId: null,
  userId: 'alice',
  scopes: ['tokens:manage', 'webhooks:read'],
  expiresAt: after(1000),
};
const fitting: Grant = { userId: 'alice', scopes: ['webhooks:read'], expiresAt: after(1000) };

function refusal(grantor: Partial<Principal>, wanted: Partial<Grant>): [status: number, message: string] | null {
  try {
    judgeGrant({ ...alice, ...grantor }, { ...fitting, ...wanted }, NOW);
    return null;
  } catch (error) {
    if (error instanceof ApiError) return [error.status, error.message];
    throw error;
  }
}

describe('A token may make', () => {
  it.each<[string, Partial<Principal>, Partial<Grant>]>([
    ['one of its own rank and life', {}, {}],
    ['one that may do all that it may itself', {}, { scopes: alice.scopes }],
    ['one that ends before it', {}, { expiresAt: after(1) }],
    ['one that never ends, when it does not end either', { expiresAt: null }, { expiresAt: null }],
    ['one for another user with users:manage', { scopes: ALL_SCOPES }, { userId: 'bob' }],
    ['one for admin, when it is of admin', { userId: 'admin' }, { userId: 'admin' }],
  ])('%s', (_, grantor, wanted) => {
    expect(refusal(grantor, wanted)).toBeNull();
  });
});

describe('A token may not make', () => {
  it.each<[string, Partial<Principal>, Partial<Grant>, number, RegExp]>([
    ['any without tokens:manage', { scopes: ['users:manage', 'webhooks:read'] }, {}, 403, /tokens:manage/],
    ['one for another user without users:manage', {}, { userId: 'bob' }, 403, /users:manage/],
    ['one for admin with users:manage', { scopes: ALL_SCOPES }, { userId: 'admin' }, 403, /BOOTSTRAP_TOKEN/],
    ['one with a scope that it lacks', {}, { scopes: ['webhooks:read', 'webhooks:write'] }, 403, /webhooks:write/],
    ['one that outlives it by a millisecond', {}, { expiresAt: after(1001) }, 400, /09:30:01\.000Z/],
    ['one that never ends, when it ends itself', {}, { expiresAt: null }, 400, /outlive/],
    ['one that has ended', {}, { expiresAt: NOW }, 400, /future/],
  ])('%s', (_, grantor, wanted, status, message) => {
    expect(refusal(grantor, wanted)).toEqual([status, expect.stringMatching(message)]);
  });
});
