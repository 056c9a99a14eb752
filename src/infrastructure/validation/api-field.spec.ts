import fc from 'fast-check';
import { isSubject, SUBJECT } from 'webhook-notification/catalogue';
import { patternOf, timeOf } from './api-field.decorator';

describe('timeOf', () => {
  it.each([
    ['2026-01-15T09:30:00Z', '2026-01-15T09:30:00.000Z'],
    ['2026-01-15T09:30Z', '2026-01-15T09:30:00.000Z'],
    ['2026-01-15T10:30:00+01:00', '2026-01-15T09:30:00.000Z'],
    ['2028-02-29T23:59:59.999-1200', '2028-03-01T11:59:59.999Z'],
  ])('accepts %s', (text, iso) => {
    expect(timeOf(text)?.toISOString()).toBe(iso);
  });

  it.each(['2026-02-29', '2026-02-30', '2026-04-31', '2026-13-01', '2026-00-10', '2026-01-00', '2026-01-32'])(
    'rejects %s, a day that does not exist',
    (day) => {
      expect(timeOf(`${day}T00:00:00Z`)).toBeNull();
    },
  );

  it.each([
    '2026-01-15',
    '2026-01-15T25:00:00Z',
    '2026-01-15T09:60:00Z',
    '1969-12-31T23:59:59Z',
    '2026-01-15T09:30:00',
    '',
  ])('rejects %j', (text) => {
    expect(timeOf(text)).toBeNull();
  });

  it('accepts every time that a Date serializes', () => {
    const dates = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
    fc.assert(fc.property(dates, (date) => timeOf(date.toISOString())?.getTime() === date.getTime()));
  });
});

describe('The pattern of a subject in the document', () => {
  const documented = new RegExp(patternOf(SUBJECT));

  it('has no property of Unicode, which clients in other languages do not know', () => {
    expect(documented.source).not.toMatch(/\\p/);
  });

  it('accepts the same characters of the basic plane, apart from unassigned ones and surrogates', () => {
    const isSkipped = (character: string) => /[\p{Cn}\p{Cs}]/u.test(character);
    const characters = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
    const differing = characters
      .filter((character) => !isSkipped(character))
      .flatMap((character) => [character, `a${character}b`])
      .filter((text) => documented.test(text) !== isSubject(text));
    expect(differing).toEqual([]);
  });
});
