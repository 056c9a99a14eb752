import fc from 'fast-check';
import { type CursorScope, decodeCursor, keysetStart, Page } from './page';

const scope: CursorScope = ['alice', 'webhooks', {}];
/** `count` rows, newest first. */
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    id: `0199c3a4-6f6e-7c52-9d5a-${String(count - i).padStart(12, '0')}`,
    name: `row ${count - i}`,
  }));

describe('A page', () => {
  it.each([
    [0, 3],
    [2, 3],
    [3, 3],
  ])('of %i rows at a limit of %i is the last', (count, limit) => {
    const rows = rowsOf(count);
    expect(Page.of(rows, limit, scope)).toMatchObject({ items: rows, nextCursor: null });
  });

  it('drops the extra row and continues after the last row that it shows', () => {
    const rows = rowsOf(4);
    const { items, nextCursor } = Page.of(rows, 3, scope);
    expect(items).toEqual(rows.slice(0, 3));
    expect(decodeCursor(nextCursor ?? '', scope)).toBe(rows[2]?.id);
  });

  it('keeps its cursor when its items are mapped', () => {
    const page = Page.of(rowsOf(2), 1, scope);
    expect(page.map(({ name }) => name)).toMatchObject({ items: ['row 2'], nextCursor: page.nextCursor });
    expect(page.nextCursor).toEqual(expect.any(String));
  });

  it('and the pages after it return every row once, in order', () => {
    fc.assert(
      fc.property(fc.nat(30), fc.integer({ min: 1, max: 8 }), (count, limit) => {
        const rows = rowsOf(count);
        const seen: typeof rows = [];
        for (let cursor: string | null | undefined; cursor !== null;) {
          const start = keysetStart(cursor, scope);
          const behind = rows.filter(({ id }) => start === null || id < start);
          const page = Page.of(behind.slice(0, limit + 1), limit, scope);
          seen.push(...page.items);
          cursor = page.nextCursor;
          expect(seen.length).toBeLessThanOrEqual(count);
        }
        expect(seen).toEqual(rows);
      }),
    );
  });
});
