import type { Principal } from '../../auth/access-token';
import { ALL_SCOPES } from '../../auth/scope';
import { MESSAGES } from '../../plumbing/errors/messages';
import { audienceOf } from './audience';

const alice = (...scopes: Principal['scopes'][number][]): Principal => ({
  tokenId: null,
  userId: 'alice',
  scopes,
  expiresAt: null,
});

describe('The audience of an event published over HTTP', () => {
  it.each([undefined, 'alice'])('is the publisher alone when it names %p', (wanted) => {
    expect(audienceOf(alice(), wanted)).toBe('alice');
    expect(audienceOf(alice('events:broadcast'), wanted)).toBe('alice');
  });

  it.each(['bob', 'Alice', '', null])('is %p with events:broadcast, and refused without it', (wanted) => {
    expect(audienceOf(alice('events:broadcast'), wanted)).toBe(wanted);
    const others = ALL_SCOPES.filter((scope) => scope !== 'events:broadcast');
    expect(() => audienceOf(alice(...others), wanted)).toThrow(
      expect.objectContaining({ status: 403, message: MESSAGES.broadcastRefused }),
    );
  });

  it('when it is refused names the scope that is missing', () => {
    expect(MESSAGES.broadcastRefused).toContain('events:broadcast');
  });
});
