import { ALL_SCOPES, type Principal } from '../../auth/access-token';
import { MESSAGES } from '../../infrastructure/errors/api-error';
import { audienceOf } from './publish-request';

const alice = (...scopes: Principal['scopes'][number][]): Principal => ({
  tokenId: null,
  userId: 'alice',
  scopes,
  expiresAt: null,
});

describe('The audience of an event published over HTTP', () => {
  it.each([undefined, 'alice'])('is only the publisher when the request names %p', (wanted) => {
    expect(audienceOf(alice(), wanted)).toBe('alice');
    expect(audienceOf(alice('events:broadcast'), wanted)).toBe('alice');
  });

  it.each(['bob', 'Alice', '', null])('is %p with events:broadcast, and rejected without it', (wanted) => {
    expect(audienceOf(alice('events:broadcast'), wanted)).toBe(wanted);
    const others = ALL_SCOPES.filter((scope) => scope !== 'events:broadcast');
    expect(() => audienceOf(alice(...others), wanted)).toThrow(
      expect.objectContaining({ status: 403, message: MESSAGES.broadcastRefused }),
    );
  });

  it('when rejected, names the missing scope', () => {
    expect(MESSAGES.broadcastRefused).toContain('events:broadcast');
  });
});
