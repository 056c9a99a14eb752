import fc from 'fast-check';
import { areEqual, bytesOf, fromBase64, fromHex, textOf, toBase64 } from './bytes';

const same = (ours: Uint8Array, theirs: Buffer) => areEqual(ours, theirs) && areEqual(theirs, ours);

describe('Bytes without Buffer', () => {
  it('are those of Buffer, for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(same(bytesOf(text), Buffer.from(text))).toBe(true);
        expect(textOf(bytesOf(`\ufeff${text}`))).toBe(Buffer.from(`\ufeff${text}`).toString('utf8'));
      }),
    );
  });

  it('are those of Buffer in base64 and hexadecimal', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const buffer = Buffer.from(bytes);
        expect(toBase64(bytes)).toBe(buffer.toString('base64'));
        for (const encoding of ['base64', 'base64url'] as const) {
          expect(same(fromBase64(buffer.toString(encoding)), buffer)).toBe(true);
        }
        expect(same(fromHex(buffer.toString('hex')), buffer)).toBe(true);
      }),
    );
  });

  it.each(['a', 'ab', 'abcde', 'a b\nc d', 'not base64 at all!', '', 'ü'])('are decoded leniently: %j', (text) => {
    expect(same(fromBase64(text), Buffer.from(text, 'base64'))).toBe(true);
  });

  it('differ when one byte, or the length, does', () => {
    expect(areEqual(bytesOf('abc'), bytesOf('abd'))).toBe(false);
    expect(areEqual(bytesOf('abc'), bytesOf('ab'))).toBe(false);
  });
});
