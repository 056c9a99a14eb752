// Bytes without Node's Buffer, so that a browser runs the same search.

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Returns the UTF-8 bytes of a text. */
export const bytesOf = (text: string): Uint8Array => encoder.encode(text);

/** Returns the text of UTF-8 bytes; invalid sequences become U+FFFD. */
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes);

/** Returns padded base64. For short values: each byte is an argument of a call. */
export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

/** Decodes base64 and base64url, with or without padding. Ignores all other characters, as `Buffer.from` does. */
export function fromBase64(text: string): Uint8Array {
  const kept = text
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/[^A-Za-z0-9+/]/g, '');
  const whole = kept.length % 4 === 1 ? kept.slice(0, -1) : kept;
  return Uint8Array.from(atob(whole), (char) => char.charCodeAt(0));
}

/** Decodes pairs of hexadecimal digits. */
export const fromHex = (text: string): Uint8Array =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** Returns whether both hold the same bytes. Not in constant time: for a diagnosis, never for a decision. */
export const areEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, i) => byte === other[i]);
