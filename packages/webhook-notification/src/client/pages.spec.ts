import { rowsOf } from './pages';
import type { Page } from './routes';

const PAGES: Record<string, Page<number>> = {
  first: { data: [1, 2], nextCursor: 'second' },
  second: { data: [], nextCursor: 'third' },
  third: { data: [3], nextCursor: null },
};

function list() {
  const asked: object[] = [];
  const readPage = (query: { cursor?: string; limit?: number }) => {
    asked.push(query);
    return Promise.resolve(PAGES[query.cursor ?? 'first'] as Page<number>);
  };
  return { asked, readPage };
}

async function all<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const found: Row[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

describe('rowsOf', () => {
  it('continues after an empty page, with the same query, until there is no cursor', async () => {
    const { asked, readPage } = list();
    expect(await all(rowsOf({ limit: 2 }, readPage))).toEqual([1, 2, 3]);
    expect(asked).toEqual([{ limit: 2 }, { limit: 2, cursor: 'second' }, { limit: 2, cursor: 'third' }]);
  });

  it('starts with the given cursor', async () => {
    const { asked, readPage } = list();
    expect(await all(rowsOf({ cursor: 'third' }, readPage))).toEqual([3]);
    expect(asked).toEqual([{ cursor: 'third' }]);
  });

  it('reads no page before it is needed', async () => {
    const { asked, readPage } = list();
    for await (const row of rowsOf({}, readPage)) if (row === 2) break;
    expect(asked).toEqual([{}]);
  });
});
