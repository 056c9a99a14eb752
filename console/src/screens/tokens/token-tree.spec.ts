import type { Token } from '../../api/types';
import { endsSoonIn, expiryAfter, fallingWith, latestOf, livesUntil, parentOf, treeOf } from './token-tree';

const NOW = Date.parse('2026-01-15T09:30:00.000Z');
const IN_A_MONTH = '2026-02-15T09:30:00.000Z';
const TONIGHT = '2026-01-15T21:30:00.000Z';

const tokenOf = (id: string, madeBy: string | null = null, more: Partial<Token> = {}): Token => ({
  ...{ id, madeBy, name: id, userId: 'ada', scopes: [], session: false, expiresAt: null, lastUsedAt: null },
  createdAt: '2026-01-01T00:00:00.000Z',
  ...more,
});
const sessionOf = (id: string, madeBy: string | null) => tokenOf(id, madeBy, { session: true, expiresAt: TONIGHT });
const tab = { tokenId: 'tab', expiresAt: TONIGHT };

const ROOT = tokenOf('root', null, { expiresAt: IN_A_MONTH });
const ALL = [
  sessionOf('tab', 'root'),
  tokenOf('leaf', 'made'),
  tokenOf('made', 'root'),
  ROOT,
  tokenOf('orphan', 'gone'),
];

describe('treeOf', () => {
  it('places each token below the one that it is revoked with, sessions last', () => {
    const namesOf = (branches: ReturnType<typeof treeOf>): unknown[] =>
      branches.map(({ token, children }) => [token.id, ...namesOf(children)]);
    expect(namesOf(treeOf(ALL))).toEqual([['root', ['made', ['leaf']], ['tab']], ['orphan']]);
  });
});

describe('fallingWith', () => {
  it('finds direct and indirect children', () => {
    const idsWith = (token: Token) => fallingWith(token, ALL).map(({ id }) => id);
    expect(idsWith(ROOT)).toEqual(['made', 'leaf', 'tab']);
    expect(idsWith(tokenOf('leaf'))).toEqual([]);
  });
});

describe('parentOf', () => {
  it('is the token that the session was made with, whose expiry bounds that of new tokens', () => {
    const parent = parentOf(tab, ALL, true);
    expect(parent).toEqual({ kind: 'token', token: ROOT });
    expect(latestOf(parent)).toBe(IN_A_MONTH);
  });

  it('is the token itself when the page has no session', () => {
    expect(parentOf({ tokenId: 'root', expiresAt: IN_A_MONTH }, ALL, false)).toEqual({ kind: 'token', token: ROOT });
  });

  it('is BOOTSTRAP_TOKEN or the session when no token has made the session', () => {
    const alone = sessionOf('tab', null);
    expect(latestOf(parentOf(tab, [alone], true))).toBeNull();
    expect(parentOf(tab, [alone], false)).toEqual({ kind: 'session', token: alone });
    expect(latestOf(parentOf(tab, [alone], false))).toBe(TONIGHT);
  });

  it('is unknown when it is not in the list; then nothing may outlive the session', () => {
    expect(latestOf(parentOf(tab, [sessionOf('tab', 'elsewhere')], true))).toBe(TONIGHT);
    expect(latestOf(parentOf(tab, [], false))).toBe(TONIGHT);
  });
});

describe('The expiry of a token', () => {
  it('is never beyond that of its parent', () => {
    expect(livesUntil(IN_A_MONTH, NOW)).toEqual([1, 7, 30]);
    expect(livesUntil(TONIGHT, NOW)).toEqual([]);
    expect(livesUntil(null, NOW)).toEqual([1, 7, 30, 90, 365]);
    expect(expiryAfter(1, NOW)).toBe('2026-01-16T09:30:00.000Z');
  });

  it('deserves a warning within seven days, except in sessions', () => {
    const leftOf = (expiresAt: string | null, session = false) => endsSoonIn({ expiresAt, session }, NOW);
    expect(leftOf('2026-01-22T09:30:00.000Z')).toBe(7 * 86_400_000);
    expect(leftOf('2026-01-22T09:30:00.001Z')).toBeNull();
    expect(leftOf('2026-01-15T09:29:59.000Z')).toBe(0);
    expect(leftOf(null)).toBeNull();
    expect(leftOf(TONIGHT, true)).toBeNull();
  });
});
