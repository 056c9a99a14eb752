import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { CursorScope } from './cursor';
import { lowestIdOf } from './id-time';
import { keysetStart } from './keyset';
import { Page } from './page';

/** What a list is asked for, besides its filters. */
export interface PageRequest {
  limit: number;
  cursor?: string;
  /** Only rows created at this time or later. */
  since?: Date;
  /** Only rows created before this time. */
  until?: Date;
}

/**
 * One page of a query, newest first. Ids are UUIDv7: their order is that of creation, and a window of time is a range of
 * ids. Rows that come later are never before the cursor, so a traversal skips and repeats nothing.
 * @throws ApiError 400 for a cursor of another scope
 */
export async function newestFirst<Row extends ObjectLiteral & { id: string }>(
  query: SelectQueryBuilder<Row>,
  { limit, cursor, since, until }: PageRequest,
  scope: CursorScope,
): Promise<Page<Row>> {
  const { alias } = query;
  const start = keysetStart(cursor, scope);
  if (start) query.andWhere(`${alias}.id < :start`, { start });
  if (since) query.andWhere(`${alias}.id >= :since`, { since: lowestIdOf(since.getTime()) });
  if (until) query.andWhere(`${alias}.id < :until`, { until: lowestIdOf(until.getTime()) });
  const rows = await query
    .orderBy(`${alias}.id`, 'DESC')
    .limit(limit + 1)
    .getMany();
  return Page.of(rows, limit, scope);
}
