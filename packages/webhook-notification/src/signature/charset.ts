import { bytesOf, textOf } from './bytes';

/** The characters of the bytes 0x80 to 0x9f in Windows-1252, which browsers and editors call Latin-1. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const FIRST = 0x80;
const MARK = [0xef, 0xbb, 0xbf];

/** Returns the bytes before somebody decoded them as Latin-1 and wrote the text as UTF-8; null when nobody did. */
export function beforeReadAsLatin1(body: Uint8Array): Uint8Array | null {
  const text = textOf(body);
  if (/^[\0-\x7f]*$/.test(text)) return null;
  const codes = Array.from(text, codeOf);
  return codes.includes(-1) ? null : Uint8Array.from(codes);
}

/** Returns the bytes before somebody wrote their text as Latin-1; null when they are UTF-8. */
export function beforeWrittenAsLatin1(body: Uint8Array): Uint8Array | null {
  if (!textOf(body).includes('\ufffd')) return null;
  return bytesOf(Array.from(body, charOf).join(''));
}

/** Returns the bytes after a byte order mark; null without one. */
export const withoutMark = (body: Uint8Array): Uint8Array | null =>
  MARK.every((byte, i) => body[i] === byte) ? body.slice(MARK.length) : null;

function codeOf(char: string): number {
  const at = WINDOWS_1252.indexOf(char);
  if (at >= 0) return FIRST + at;
  const code = char.codePointAt(0) ?? 0;
  return code <= 0xff ? code : -1;
}

const charOf = (byte: number): string => WINDOWS_1252[byte - FIRST] ?? String.fromCharCode(byte);
