import { stepWindow } from './step-window';

const NOW = new Date('2026-01-15T12:34:56.789Z');
const window = (...[step, span = {}]: [Parameters<typeof stepWindow>[0], Parameters<typeof stepWindow>[1]?]) =>
  stepWindow(step, span, NOW).froms.map((from) => from.toISOString());

describe('A step window', () => {
  it.each([
    ['5m', '2026-01-14T12:30:00.000Z', '2026-01-15T12:30:00.000Z', 289],
    ['1h', '2026-01-14T12:00:00.000Z', '2026-01-15T12:00:00.000Z', 25],
    ['1d', '2026-01-14T00:00:00.000Z', '2026-01-15T00:00:00.000Z', 2],
  ] as const)('covers the last 24 hours by default, in steps of %s', (step, first, last, count) => {
    const froms = window(step);
    expect([froms[0], froms.at(-1), froms.length]).toEqual([first, last, count]);
  });

  it('runs from since to until when both are step boundaries', () => {
    const span = { since: new Date('2026-01-15T10:00:00Z'), until: new Date('2026-01-15T12:00:00Z') };
    expect(window('1h', span)).toEqual(['2026-01-15T10:00:00.000Z', '2026-01-15T11:00:00.000Z']);
  });

  it('is rejected when it is empty or too long', () => {
    expect(() => window('1h', { since: NOW, until: NOW })).toThrow(/later than since/);
    const long = { since: new Date(NOW.getTime() - 300 * 3_600_000) };
    expect(() => window('1h', long)).toThrow(/301 steps/);
  });
});
