import { isUserId } from './user-id';

describe('A user id', () => {
  it.each(['a', 'alice', 'auth0|5f7c', 'ada@example.social', 'urn:user:1', 'a'.repeat(128), '-._:|@'])(
    'may be %s',
    (text) => {
      expect(isUserId(text)).toBe(true);
    },
  );

  it.each(['', 'a'.repeat(129), 'a b', 'a\n', 'ä', 'a/b', 'a,b', "a'", 'a\u0000'])('cannot be %p', (text) => {
    expect(isUserId(text)).toBe(false);
  });
});
