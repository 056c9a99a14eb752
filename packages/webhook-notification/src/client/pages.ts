import type { Page } from './routes';

/** The rows of a list, for `for await`. */
export type Rows<Row> = AsyncGenerator<Row, void, undefined>;

/**
 * Every row of a list from the query's `cursor` on, page after page until `nextCursor` is null: a page may be short, or
 * empty, before that. `limit` is the size of a page.
 */
export async function* rowsOf<Query extends { cursor?: string }, Row>(
  query: Query,
  readPage: (query: Query) => Promise<Page<Row>>,
): Rows<Row> {
  let next: string | null = null;
  do {
    const page: Page<Row> = await readPage(next === null ? query : { ...query, cursor: next });
    yield* page.data;
    next = page.nextCursor;
  } while (next !== null);
}
