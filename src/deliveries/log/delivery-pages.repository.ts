import { Injectable } from '@nestjs/common';
import { StatementsService } from '../../infrastructure/database/statements.service';
import type { IdWindow } from '../../infrastructure/pagination/id-window';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../delivery.entity';
import { LISTED_COLUMNS, type ListedDelivery } from '../listed-columns';
import { type ChangeFilters, conditionsOf, type DeliveryFilters, statusOfState } from './delivery-filters';

/** Matching rows, newest first, and where to continue. */
export interface FoundRows {
  rows: ListedDelivery[];
  /** Id of the last row scanned when there may be more rows; otherwise null. */
  lookedUpTo: string | null;
}

/** Maximum number of rows scanned for a page. */
const MAX_LOOKED_AT = 10_000;
/** Lower maximum for `givenUp` and `state`, because the later rows of each event are scanned too. */
const MAX_LOOKED_AT_WITH_LATER = 1000;

type Bind = (value: unknown) => string;

/** A way to read rows, in the order of one index or of several that are merged. */
interface Way {
  /** The column values of each index, in index order, up to the id. */
  paths: Column[][];
  /** The filters that these values already satisfy. */
  met: (keyof ChangeFilters)[];
}

type Column = readonly [name: 'user_id' | 'webhook_id' | 'event_id' | 'event' | 'status' | 'trigger', value: string];

/** Finds rows of the delivery log. Every query scans a bounded number of rows, in the order of an index. */
@Injectable()
export class DeliveryPagesRepository {
  constructor(private readonly statements: StatementsService) {}

  /**
   * Returns up to `limit` rows of a user in a window, newest first, as of one moment. Fewer rows do not mean that no more exist:
   * see `lookedUpTo`.
   */
  async find(userId: string, filters: DeliveryFilters, window: IdWindow, limit: number): Promise<FoundRows> {
    const way = wayTo(userId, filters);
    if (way.paths.length === 0) return { rows: [], lookedUpTo: null };
    const values: unknown[] = [];
    const bind: Bind = (value) => `$${values.push(value)}`;
    const rest = conditionsOf(filters, way.met, bind);
    // Without further conditions, every scanned row belongs to the page.
    const looksLater = filters.givenUp || filters.state;
    const most = rest.length === 0 ? limit : looksLater ? MAX_LOOKED_AT_WITH_LATER : MAX_LOOKED_AT;
    const where = rest.length === 0 ? '' : `where ${rest.join(' and ')}`;
    const page = `select ${LISTED_COLUMNS} from (${lookedAt(way, window, most, bind)}) as d ${where} ${newest(way, limit)}`;
    const rows = await this.statements.runByIndex<ListedDelivery>(page, values);
    if (rest.length === 0 || rows.length === limit) return { rows, lookedUpTo: null };
    return { rows, lookedUpTo: await this.lastOf(way, window, most) };
  }

  /** Counts the rows of a user in a window. `atLeast`: the scan reached its maximum, so there may be more. */
  async count(
    userId: string,
    filters: DeliveryFilters,
    window: IdWindow,
  ): Promise<{ count: number; atLeast: boolean }> {
    const way = wayTo(userId, filters);
    if (way.paths.length === 0) return { count: 0, atLeast: false };
    const values: unknown[] = [];
    const bind: Bind = (value) => `$${values.push(value)}`;
    const rest = conditionsOf(filters, way.met, bind);
    const where = rest.length === 0 ? '' : `where ${rest.join(' and ')}`;
    const counted = `select count(*)::int as count from (${lookedAt(way, window, MAX_LOOKED_AT, bind)}) as d ${where}`;
    const [row] = await this.statements.runByIndex<{ count: number }>(counted, values);
    return { count: row?.count ?? 0, atLeast: (await this.lastOf(way, window, MAX_LOOKED_AT + 1)) !== null };
  }

  /** Returns the id of the last scanned row when the scan reached its maximum; otherwise null. */
  private async lastOf(way: Way, window: IdWindow, most: number): Promise<string | null> {
    const values: unknown[] = [];
    const bind: Bind = (value) => `$${values.push(value)}`;
    const skipped = `select id from (${lookedAt(way, window, most, bind)}) as d ${newest(way, 1)} offset ${most - 1}`;
    const [last] = await this.statements.runByIndex<{ id: string }>(skipped, values);
    return last?.id ?? null;
  }
}

/**
 * SQL for the rows of a way in a window, merged, newest first. PostgreSQL reads only as many rows as the outer query requires.
 */
function lookedAt(way: Way, window: IdWindow, most: number, bind: Bind): string {
  const [first = '', ...others] = way.paths.map((path) => `(${along(path, window, bind)} ${newest(way, most)})`);
  if (others.length === 0) return first;
  return `select * from (${[first, ...others].join(' union all ')}) as merged ${newest(way, most)}`;
}

/**
 * SQL for the order of the indexes. It includes their columns, which have a single value each: otherwise PostgreSQL could use
 * another index with the order of the ids and search the whole log for matches. Columns of partial indexes are fixed.
 */
function newest({ paths: [path = []] }: Way, limit: number): string {
  const names = [...path.filter((column) => !isFixed(column)).map(([name]) => name), 'id'];
  return `order by ${names.map((name) => `${name} desc`).join(', ')} limit ${limit}`;
}

/** Each partial index covers certain values of such a column. */
const isFixed = ([name]: Column): boolean => name === 'status' || name === 'trigger';

/** SQL for the rows of an index in a window. */
function along(path: readonly Column[], { from, before }: IdWindow, bind: Bind): string {
  const last = path.findLast((column) => !isFixed(column));
  const conditions = path.map((column) => {
    const [name, value] = column;
    if (isFixed(column)) return `${name} = '${value}'`;
    const bound = bind(value);
    // Equivalent to `=`, but keeps the column in the order. Only for the last column: before PostgreSQL 18, an index scan does
    // not stop at the end of a column that follows such a condition.
    return column === last ? `${name} between ${bound} and ${bound}` : `${name} = ${bound}`;
  });
  if (from) conditions.push(`id >= ${bind(from)}`);
  if (before) conditions.push(`id < ${bind(before)}`);
  return `select * from webhook_service.deliveries where ${conditions.join(' and ')}`;
}

/** Chooses the index with the fewest rows, as far as the filters tell. */
function wayTo(userId: string, filters: DeliveryFilters): Way {
  const { webhookId, event, eventId, trigger } = filters;
  const user: Column = ['user_id', userId];
  if (eventId !== undefined) return { paths: [[user, ['event_id', eventId]]], met: ['eventId'] };
  const owner: Column = webhookId === undefined ? user : ['webhook_id', webhookId];
  const statuses = statusesOf(filters);
  if (statuses.every((status) => status === 'failed' || status === 'canceled')) {
    return { paths: statuses.map((status) => [owner, ['status', status]]), met: ['webhookId', 'status'] };
  }
  if (statuses.every((status) => status === 'pending')) {
    return { paths: [[user, ['status', 'pending']]], met: ['status'] };
  }
  if (trigger !== undefined && trigger !== 'event') {
    return { paths: [[owner, ['trigger', trigger]]], met: ['webhookId', 'trigger'] };
  }
  if (event !== undefined) return { paths: [[user, ['event', event]]], met: ['event'] };
  return { paths: [[owner]], met: ['webhookId'] };
}

/** Returns the statuses that matching rows can have. */
function statusesOf({ status, state, error, responseStatus, givenUp }: DeliveryFilters): DeliveryStatus[] {
  const possible = status ?? (state ? [...new Set(state.map(statusOfState))] : DELIVERY_STATUSES);
  const isFailed = givenUp || responseStatus === 'none';
  const isFailure =
    isFailed || error !== undefined || (responseStatus !== undefined && !responseStatus.startsWith('2'));
  return possible.filter((one) => one === 'failed' || (!isFailed && (one === 'canceled' || !isFailure)));
}
