// Control characters, marks of direction, what has no width, and other ends of lines: what is not seen could mislead.
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The text with everything visible that has no picture of its own, such as `⟨U+202E⟩`. */
export const plainOf = (text: string): string =>
  text.replace(UNSEEN, (mark) => `⟨U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
