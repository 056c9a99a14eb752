/** Characters that change what a terminal shows: controls, DEL, C1, directions, zero widths, separators, halves of pairs. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Returns a value from outside as one line of text for a terminal. Control characters are escaped, as in `\u{1b}`. */
export function printable(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.replaceAll(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Returns a value from outside as JSON on one line, with the same characters escaped. */
export function printableJson(value: unknown): string {
  const escaped = (character: string) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
  return JSON.stringify(value).replaceAll(UNPRINTABLE, escaped);
}
