import fc from 'fast-check';
import { isIdempotencyKey } from './idempotency-key';

describe('An idempotency key', () => {
  it('may be any 1 to 255 printable ASCII characters', () => {
    const printable = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 255 });
    fc.assert(fc.property(printable, (key) => expect(isIdempotencyKey(key)).toBe(true)));
    expect(isIdempotencyKey('~'.repeat(255))).toBe(true);
  });

  it.each([1, null, undefined, '', 'a'.repeat(256), 'a\n', 'tab\t', 'é', '\u007f', '\u0000', ['a']])(
    'cannot be %p',
    (key) => {
      expect(isIdempotencyKey(key)).toBe(false);
    },
  );
});
