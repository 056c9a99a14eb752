import type { Page } from './routes';

/** The rows of a list, for `for await`. */
export type Rows<Row> = AsyncGenerator<Row, void, undefined>;

/**
 * Iterates over every row of a list, starting at the query's `cursor`, page by page until `nextCursor` is null: a page
 * may be short, or empty, before that. `limit` is the size of a page.
 */
export async function* rowsOf<Query extends { cursor?: string }, Row>(
  query: Query,
  readPage: (query: Query) => Promise<Page<Row>>,
): Rows<Row> {
  let next: string | null = null;
  do {
    const page: Page<Row> = await readPage(next === null ? query : { ...query, cursor: next });
    yield* page.data;
    if (page.nextCursor !== null && page.nextCursor === next) throw new Error('The service returns one page for ever.');
    next = page.nextCursor;
  } while (next !== null);
}
