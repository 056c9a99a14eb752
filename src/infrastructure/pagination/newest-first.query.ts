import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { BY_INDEX_ONLY } from '../database/statements.service';
import { type CursorScope, idWindow, type PageRequest, Page } from './page';

/**
 * Returns one page of a query, newest first. Ids are UUIDv7: their order is that of creation, and a time window is a
 * range of ids. New rows never come before the cursor, so a client that follows the cursors skips and repeats nothing.
 * @param query of a table with an index of what it filters by and the id
 */
export async function newestFirst<Row extends ObjectLiteral & { id: string }>(
  query: SelectQueryBuilder<Row>,
  page: PageRequest,
  scope: CursorScope,
): Promise<Page<Row>> {
  const { alias } = query;
  const { from, before } = idWindow(page, scope);
  if (from) query.andWhere(`${alias}.id >= :from`, { from });
  if (before) query.andWhere(`${alias}.id < :before`, { before });
  query.orderBy(`${alias}.id`, 'DESC').limit(page.limit + 1);
  const rows = await query.connection.transaction(async ({ queryRunner }) => {
    await queryRunner?.query(BY_INDEX_ONLY);
    return query.setQueryRunner(queryRunner!).getMany();
  });
  return Page.of(rows, page.limit, scope);
}
