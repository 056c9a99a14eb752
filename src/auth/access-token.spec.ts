import fc from 'fast-check';
import { formatToken, hashToken, isAccessToken } from './access-token';

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((array) => Buffer.from(array));

describe('An access token', () => {
  it('encodes any 32 bytes without loss', () => {
    fc.assert(
      fc.property(bytes, (random) => {
        const token = formatToken(random);
        expect(isAccessToken(token)).toBe(true);
        expect(Buffer.from(token.slice('wns_'.length), 'base64url')).toEqual(random);
      }),
    );
  });

  it.each([
    ['another prefix', `WNS_${'a'.repeat(43)}`],
    ['no prefix', 'a'.repeat(47)],
    ['42 characters', `wns_${'a'.repeat(42)}`],
    ['44 characters', `wns_${'a'.repeat(44)}`],
    ['a character of plain base64', `wns_${'a'.repeat(42)}/`],
    ['a trailing line break', `wns_${'a'.repeat(43)}\n`],
    ['a leading space', ` wns_${'a'.repeat(43)}`],
    ['no characters', ''],
  ])('is not valid with %s', (_, text) => {
    expect(isAccessToken(text)).toBe(false);
  });

  it('is stored as its SHA-256 (FIPS 180-2, B.1 and B.2)', () => {
    expect(hashToken('abc').toString('hex')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(hashToken('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq').toString('hex')).toBe(
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    );
  });
});
