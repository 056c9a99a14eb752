const REPLACEMENT = '\ufffd';
const ELLIPSIS = '…';

// The classes are Unicode's own lists: controls, lone surrogates, line and paragraph separators, Bidi_Control, and all
// that renders as nothing (zero-width characters, soft hyphen, fillers, tags). Annotation anchors are missing there.
// A variation selector after an emoji stays: it selects between two visible glyphs.
const HIDDEN =
  /(?!(?<=\p{Emoji})[\ufe0e\ufe0f])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** In UTF-16 units. A longer cluster is a pile of combining marks, which may be cut between two of them. */
const MAX_CLUSTER = 32;
const clusters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Returns the last position up to `limit` that is not inside a character as people see it (UAX #29). */
function boundaryUpTo(limit: number, text: string): number {
  const start = clusters.segment(text).containing(limit)?.index ?? limit;
  if (limit - start <= MAX_CLUSTER) return start;
  return text.codePointAt(limit - 1)! > 0xffff ? limit - 1 : limit;
}

/**
 * Returns the text as one line in which every character is visible: each control (line breaks and tabs too),
 * bidirectional control, zero-width or otherwise invisible character and each lone surrogate becomes U+FFFD. The result
 * has at most `maxLength` UTF-16 units (2 or more). A longer text is cut between two characters and ends with `…`.
 * The cost depends on `maxLength`, not on the length of the text.
 */
export function visibleText(text: string, maxLength: number): string {
  // Two units become at least one, so a cut text is still too long afterwards, and a pair cut here is not shown.
  const visible = text.slice(0, 2 * maxLength + 2).replaceAll(HIDDEN, REPLACEMENT);
  if (visible.length <= maxLength) return visible;
  return visible.slice(0, boundaryUpTo(maxLength - 1, visible)) + ELLIPSIS;
}
