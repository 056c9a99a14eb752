import { HIDDEN } from './header-rules';

/** Shorter parts of a value are no secret, and would be found everywhere. */
const MIN_PART = 8;
/** A shorter beginning at the end of a cut text tells nothing. */
const MIN_BEGINNING = 4;

/**
 * Returns a function that hides header values in a text of the receiver, which may repeat its request. It replaces each value,
 * each part of it of 8 or more characters between spaces, and both as JSON escapes them.
 * @param values the values that were sent
 */
export function redactionOf(values: readonly string[]): (text: string, isCut: boolean) => string {
  const parts = values.flatMap((value) => [value, ...value.split(' ').filter(({ length }) => length >= MIN_PART)]);
  const needles = [...new Set(parts.flatMap((part) => [part, JSON.stringify(part).slice(1, -1)]))];
  // The longest first: a part must not split the value that contains it.
  needles.sort((a, b) => b.length - a.length);
  return (text, isCut) => {
    const whole = needles.reduce((rest, needle) => rest.replaceAll(needle, HIDDEN), text);
    return isCut ? withoutBeginning(whole, needles) : whole;
  };
}

/** Hides the beginning of a value at the end of a text that was cut there. */
function withoutBeginning(text: string, needles: readonly string[]): string {
  const longest = Math.max(0, ...needles.map((needle) => beginningAt(text, needle)));
  return longest < MIN_BEGINNING ? text : text.slice(0, text.length - longest) + HIDDEN;
}

/** Returns the length of the longest beginning of `needle` with which `text` ends. */
function beginningAt(text: string, needle: string): number {
  for (let length = Math.min(needle.length - 1, text.length); length > 0; length--)
    if (text.endsWith(needle.slice(0, length))) return length;
  return 0;
}
