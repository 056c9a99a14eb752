import { plainOf } from '../../parts/plain';

/** The place where two bodies first differ. */
export interface Difference {
  /** Number of the byte, from 0. */
  at: number;
  sent: Excerpt;
  received: Excerpt;
}

/** The bytes around a place, readable: everything invisible is written out, such as `⟨LF⟩`. */
export interface Excerpt {
  before: string;
  /** The character that holds the byte; null after the end. */
  mark: string | null;
  /** The byte itself, such as `0x0A`; null after the end. */
  byte: string | null;
  after: string;
}

/** Bytes on each side. */
const AROUND = 20;
const NAMES: Record<string, string> = { '\n': 'LF', '\r': 'CR', '\t': 'TAB', ' ': 'SPACE' };

/** Returns the first differing byte with up to 20 bytes on each side; null for equal bodies. */
export function firstDifference(sent: Uint8Array, received: Uint8Array): Difference | null {
  const longest = Math.max(sent.length, received.length);
  let at = 0;
  while (at < longest && sent[at] === received[at]) at++;
  if (at === longest) return null;
  return { at, sent: excerptOf(sent, at), received: excerptOf(received, at) };
}

function excerptOf(bytes: Uint8Array, at: number): Excerpt {
  let from = at;
  // Inside a character of several bytes, the mark is the whole character.
  while (from > 0 && at - from < 3 && isContinuation(bytes[from])) from--;
  const to = Math.min(bytes.length, from + lengthOf(bytes, from));
  const byte = bytes[at];
  return {
    before: charsOf(bytes.subarray(Math.max(0, from - AROUND), from))
      .map(readable)
      .join(''),
    mark: byte === undefined ? null : charsOf(bytes.subarray(from, to)).map(named).join(''),
    byte: byte === undefined ? null : hexOf(byte),
    after: charsOf(bytes.subarray(to, to + AROUND))
      .map(readable)
      .join(''),
  };
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && byte >> 6 === 0b10;
const hexOf = (byte: number): string => `0x${byte.toString(16).toUpperCase().padStart(2, '0')}`;

/** Returns how many bytes the character that begins here has; 1 when they are not UTF-8. */
function lengthOf(bytes: Uint8Array, from: number): number {
  const first = bytes[from] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  const isWhole = !new TextDecoder().decode(bytes.subarray(from, from + length)).includes('\ufffd');
  return isWhole ? length : 1;
}

/** Returns the characters; a byte that is part of none, such as half of a character, by its number. */
function charsOf(bytes: Uint8Array): string[] {
  const chars: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = lengthOf(bytes, at);
    const char = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(at, at + length));
    chars.push(length === 1 && char === '\ufffd' ? `⟨${hexOf(bytes[at] ?? 0)}⟩` : char);
    at += length;
  }
  return chars;
}

const named = (char: string): string => (NAMES[char] ? `⟨${NAMES[char]}⟩` : plainOf(char));
const readable = (char: string): string => (char === ' ' ? char : named(char));
