import { ApiError } from '../../infrastructure/errors/api-error';
import { ALL_SCOPES, type Principal } from '../access-token';
import { type Grant, validateGrant } from './token-grant';

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
    validateGrant({ ...alice, ...grantor }, { ...fitting, ...wanted }, NOW);
    return null;
  } catch (error) {
    if (error instanceof ApiError) return [error.status, error.message];
    throw error;
  }
}

describe('A token can create', () => {
  it.each<[string, Partial<Principal>, Partial<Grant>]>([
    ['one with its own expiry', {}, {}],
    ['one with all of its scopes', {}, { scopes: alice.scopes }],
    ['one that expires earlier', {}, { expiresAt: after(1) }],
    ['one without an expiry, when it has none itself', { expiresAt: null }, { expiresAt: null }],
    ['one for another user with users:manage', { scopes: ALL_SCOPES }, { userId: 'bob' }],
    ['one for admin, when it belongs to admin', { userId: 'admin' }, { userId: 'admin' }],
  ])('%s', (_, grantor, wanted) => {
    expect(refusal(grantor, wanted)).toBeNull();
  });
});

describe('A token cannot create', () => {
  it.each<[string, Partial<Principal>, Partial<Grant>, number, RegExp]>([
    ['any without tokens:manage', { scopes: ['users:manage', 'webhooks:read'] }, {}, 403, /tokens:manage/],
    ['one for another user without users:manage', {}, { userId: 'bob' }, 403, /users:manage/],
    ['one for admin with users:manage', { scopes: ALL_SCOPES }, { userId: 'admin' }, 403, /BOOTSTRAP_TOKEN/],
    ['one with a scope that it lacks', {}, { scopes: ['webhooks:read', 'webhooks:write'] }, 403, /webhooks:write/],
    ['one that outlives it by a millisecond', {}, { expiresAt: after(1001) }, 400, /09:30:01\.000Z/],
    ['one without an expiry, when it has one itself', {}, { expiresAt: null }, 400, /outlive/],
    ['one that has expired', {}, { expiresAt: NOW }, 400, /future/],
  ])('%s', (_, grantor, wanted, status, message) => {
    expect(refusal(grantor, wanted)).toEqual([status, expect.stringMatching(message)]);
  });
});
