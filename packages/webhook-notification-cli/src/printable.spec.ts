import { printable, printableJson } from './printable';

describe('A printed text', () => {
  it.each([
    ['a colour', '\u001b[31mred', '\\u{1b}[31mred'],
    ['line breaks', 'a\r\nb\u2028c\u2029d', 'a\\u{d}\\u{a}b\\u{2028}c\\u{2029}d'],
    ['DEL and C1', '\u007f\u009b', '\\u{7f}\\u{9b}'],
    ['directions', '\u202eabc\u2066\u200f\u061c', '\\u{202e}abc\\u{2066}\\u{200f}\\u{61c}'],
    ['zero widths', 'a\u200bb\ufeff', 'a\\u{200b}b\\u{feff}'],
    ['half a pair', '\ud83e', '\\u{d83e}'],
  ])('escapes %s', (_, text, printed) => {
    expect(printable(text)).toBe(printed);
  });

  it('as JSON escapes the same, and stays the same value', () => {
    const value = { text: 'a\u001b[31m\u202e\u2028\u009b\u{e0001}Zoë\ud83e' };
    const json = printableJson(value);
    expect(JSON.parse(json)).toEqual(value);
    expect(printable(json)).toBe(json);
  });

  it('keeps what can be read', () => {
    expect(printable('Zoë 🪝 سلام')).toBe('Zoë 🪝 سلام');
  });
});
