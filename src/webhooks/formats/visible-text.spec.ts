import fc from 'fast-check';
import { visibleText } from './event-summary';

// Written out, so that a mistake in the classes of the implementation shows. Ranges of code points, both ends included.
const HIDDEN: [string, number, number][] = [
  ['C0 controls, tab and line breaks included', 0x0000, 0x001f],
  ['DEL and C1 controls', 0x007f, 0x009f],
  ['soft hyphen', 0x00ad, 0x00ad],
  ['Arabic letter mark (Bidi_Control)', 0x061c, 0x061c],
  ['Hangul fillers', 0x115f, 0x1160],
  ['Mongolian variation selectors and vowel separator', 0x180b, 0x180f],
  ['zero-width characters and directional marks', 0x200b, 0x200f],
  ['line and paragraph separators', 0x2028, 0x2029],
  ['embeddings and overrides (Bidi_Control)', 0x202a, 0x202e],
  ['word joiner and invisible operators', 0x2060, 0x2064],
  ['isolates (Bidi_Control)', 0x2066, 0x2069],
  ['deprecated format characters', 0x206a, 0x206f],
  ['Hangul filler', 0x3164, 0x3164],
  ['lone surrogates', 0xd800, 0xdfff],
  ['variation selectors', 0xfe00, 0xfe0f],
  ['byte order mark', 0xfeff, 0xfeff],
  ['annotation anchors', 0xfff9, 0xfffb],
  ['tags and supplementary variation selectors', 0xe0000, 0xe0fff],
];
const isHidden = (point: number) => HIDDEN.some(([, first, last]) => point >= first && point <= last);

describe('visibleText', () => {
  it.each(HIDDEN)('replaces %s (%d to %d)', (_, first, last) => {
    for (let point = first; point <= last; point++) {
      expect(visibleText(`a${String.fromCodePoint(point)}b`, 10)).toBe('a\ufffdb');
    }
  });

  it.each([
    ['letters of any script', 'Ada Łukasz 李 नमस्ते שלום'],
    ['combining marks', 'e\u0301'],
    ['emoji', '😀👍🏽'],
    ['a variation selector after an emoji', '❤\ufe0f 1\ufe0f\u20e3'],
    ['spaces', 'a  b\u00a0c'],
  ])('keeps %s', (_, text) => {
    expect(visibleText(text, 100)).toBe(text);
  });

  it.each([
    ['joiners of emoji', '👩\u200d💻', '👩\ufffd💻'],
    ['every line break', 'a\r\nb', 'a\ufffd\ufffdb'],
    ['repeated variation selectors', '❤\ufe0f\ufe0f', '❤\ufe0f\ufffd'],
  ])('replaces %s', (_, text, expected) => {
    expect(visibleText(text, 100)).toBe(expected);
  });

  it.each([
    ['abcde', 5, 'abcde'],
    ['abcdef', 5, 'abcd…'],
    ['abc😀', 5, 'abc😀'],
    ['abc😀e', 5, 'abc…'], // not half of a surrogate pair
    ['abe\u0301\u0302e', 5, 'ab…'], // not a letter without its accents
    ['ab👍🏽🏽', 5, 'ab…'], // not an emoji without its skin tone
    ['\u{e0041}'.repeat(6), 5, `${'\ufffd'.repeat(4)}…`], // cut though it has fewer units than before
  ])('cuts %j to %d units: %j', (text, maxLength, expected) => {
    expect(visibleText(text, maxLength)).toBe(expected);
  });

  it('cuts a pile of combining marks between two of them', () => {
    expect(visibleText(`e${'\u0301'.repeat(99)}`, 50)).toBe(`e${'\u0301'.repeat(48)}…`);
    expect(visibleText(`e${'\u{1d167}'.repeat(99)}`, 51)).toBe(`e${'\u{1d167}'.repeat(24)}…`);
  });

  it('returns visible, well-formed text of at most the given length', () => {
    const units = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\ud83d', '\ude00', '😀', '\u0301', '\u202e'),
    );
    fc.assert(
      fc.property(fc.array(units), fc.integer({ min: 2, max: 40 }), (parts, maxLength) => {
        const text = visibleText(parts.join(''), maxLength);
        expect(text.length).toBeLessThanOrEqual(maxLength);
        const selectors = /\p{Emoji}[\ufe0e\ufe0f]/gu;
        expect([...text.replaceAll(selectors, '')].filter((c) => isHidden(c.codePointAt(0)!))).toEqual([]);
      }),
    );
  });
});
