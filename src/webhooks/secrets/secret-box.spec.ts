import fc from 'fast-check';
import { isSealedUnder, NONCE_BYTES, open, seal } from './secret-box';

const KEY = Buffer.alloc(32, 1);
const OTHER_KEY = Buffer.alloc(32, 2);
const NONCE = Buffer.alloc(NONCE_BYTES, 3);
const ID = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';
const SECRET = 'whsec_çorba ✓';
const sealed = seal(SECRET, ID, KEY, NONCE);

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((b) => Buffer.from(b));

describe('A sealed secret', () => {
  it.each([
    ['13', '', '530f8afbc74536b9a963b4f1c4cb738b'],
    ['14', '\0'.repeat(16), 'cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919'],
  ])('is AES-256-GCM: test case %s of McGrew and Viega', (_, plaintext, ciphertextAndTag) => {
    const box = seal(plaintext, '', Buffer.alloc(32), Buffer.alloc(12));
    // The first 4 bytes of SHA-256 of the key, then the nonce.
    expect(box.toString('hex')).toBe(`66687aad${'00'.repeat(12)}${ciphertextAndTag}`);
  });

  it('opens with its key and its webhook for any secret', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.uuid(), bytes(32), bytes(12), (secret, id, key, nonce) => {
        expect(open(seal(secret, id, key, nonce), id, [key])).toBe(secret);
      }),
    );
  });

  it('opens if one key of the list fits', () => {
    expect(open(sealed, ID, [OTHER_KEY, KEY])).toBe(SECRET);
    expect(open(sealed, ID, [KEY, OTHER_KEY])).toBe(SECRET);
    expect(open(seal(SECRET, ID, OTHER_KEY, NONCE), ID, [KEY, OTHER_KEY])).toBe(SECRET);
  });

  it('does not open without its key', () => {
    expect(open(sealed, ID, [OTHER_KEY])).toBeNull();
    expect(open(sealed, ID, [])).toBeNull();
  });

  it('does not open for another webhook', () => {
    expect(open(sealed, ID.replace('90', '91'), [KEY])).toBeNull();
    expect(open(sealed, '', [KEY])).toBeNull();
  });

  it('does not open with any single bit flipped', () => {
    const opened = Array.from({ length: sealed.length * 8 }, (_, bit) => {
      const damaged = Buffer.from(sealed);
      damaged.writeUInt8(damaged.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      return open(damaged, ID, [KEY]);
    });
    expect(opened.filter((secret) => secret !== null)).toEqual([]);
  });

  it('does not open when truncated or extended, at any length', () => {
    for (let length = 0; length < sealed.length; length++) {
      expect(open(sealed.subarray(0, length), ID, [KEY])).toBeNull();
      if (length > 0) expect(open(sealed.subarray(length), ID, [KEY])).toBeNull();
    }
    expect(open(Buffer.concat([sealed, Buffer.alloc(1)]), ID, [KEY])).toBeNull();
  });

  it('identifies its key', () => {
    expect(isSealedUnder(sealed, KEY)).toBe(true);
    expect(isSealedUnder(sealed, OTHER_KEY)).toBe(false);
    expect(isSealedUnder(Buffer.alloc(0), KEY)).toBe(false);
  });

  it('reveals neither the secret nor its key', () => {
    expect(sealed.includes(SECRET)).toBe(false);
    expect(sealed.includes(KEY.subarray(0, 4))).toBe(false);
  });
});
