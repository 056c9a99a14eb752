import { principalOf } from './jwt.service';

const claims = { sub: 'alice', exp: 4_000_000_000, scope: 'webhooks:read events:publish' };

describe('The claims of a JWT', () => {
  it('contain the user, their scopes and the expiry', () => {
    expect(principalOf(claims)).toEqual({
      tokenId: null,
      userId: 'alice',
      scopes: ['webhooks:read', 'events:publish'],
      expiresAt: new Date(4_000_000_000_000),
    });
  });

  it.each([
    ['openid webhooks:read  profile webhooks:read', ['webhooks:read']],
    ['WEBHOOKS:READ webhooks:* constructor', []],
    ['webhooks:read,webhooks:write', []],
    ['', []],
    [undefined, []],
    [['webhooks:read'], []],
    [{ 'webhooks:read': true }, []],
  ])('with the scope %j grant %j', (scope, scopes) => {
    expect(principalOf({ ...claims, scope })?.scopes).toEqual(scopes);
  });

  it.each(['admin', '', 'a b', 'x'.repeat(129), 'al\u0131ce', undefined])(
    'identify no user with the subject %j',
    (sub) => {
      expect(principalOf({ ...claims, sub })).toBeNull();
    },
  );

  it.each([undefined, -1, NaN, Infinity, 1e300, 253_402_300_800])('identify no user with the expiry %j', (exp) => {
    expect(principalOf({ ...claims, exp })).toBeNull();
  });
});
