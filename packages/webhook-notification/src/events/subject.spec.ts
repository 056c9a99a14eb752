import fc from 'fast-check';
import { encodedSubject, isSubject } from './subject';

describe('A subject', () => {
  it.each([
    'a',
    'invoice/123',
    'Rechnung Nr. 7',
    '100 % "sure" <b>',
    '訂單 7',
    '🧾',
    '🧾'.repeat(128),
    `a${' '.repeat(126)}z`,
    'e\u0301',
  ])('can be %p', (subject) => expect(isSubject(subject)).toBe(true));

  it.each([
    ...['', ' ', ' a', 'a ', 'x'.repeat(129), '🧾'.repeat(129)],
    ...['a\nb', 'a\u0000', '\u007f', 'a\u0085b', 'soft\u00adhyphen', 'zero\u200bwidth', 'a\ufeff'],
    ...['\u202eabc', 'a\u2066b', 'a\u061cb', 'a\u200fb'],
    ...['no\u00a0break', 'a\u2003b', 'a\u2028b', 'a\u2029b', 'a\u3000b'],
    ...['\ud800', 'a\udc00', '\ue000', '\u{f0000}', '\u0378', '\uffff', '\u{e0041}'],
    ...[1, null, undefined, {}, ['a']],
  ])('cannot be %j', (subject) => expect(isSubject(subject)).toBe(false));

  it('cannot be a long text, whose spaces and words could be divided in many ways', () => {
    for (const text of [`${'a '.repeat(100_000)}`, 'a'.repeat(200_000), `${' '.repeat(200_000)}a`])
      expect(isSubject(text)).toBe(false);
  });
});

describe('The header of a subject', () => {
  it.each([
    ['invoice/123', 'invoice%2F123'],
    [`a-._~Z9 !'()*`, 'a-._~Z9%20%21%27%28%29%2A'],
    ['100 % "é" 🧾', '100%20%25%20%22%C3%A9%22%20%F0%9F%A7%BE'],
  ])('of %p is %p', (subject, value) => expect(encodedSubject(subject)).toBe(value));

  it('can be decoded, and has only unreserved characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }), (subject) => {
        expect(decodeURIComponent(encodedSubject(subject))).toBe(subject);
        expect(encodedSubject(subject)).toMatch(/^(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+$/);
      }),
    );
  });
});
