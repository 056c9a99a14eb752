import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { KeyedMutex } from '../../infrastructure/concurrency/keyed-mutex';
import type { Principal } from '../../auth/access-token';
import { Config } from '../../infrastructure/config/config';
import { ClockService } from '../../infrastructure/database/clock.service';
import { StatementsService, statement } from '../../infrastructure/database/statements.service';
import { ApiError, invalid, invalidCursor, MESSAGES } from '../../infrastructure/errors/api-error';
import { Event, SUBJECTS_FROM } from '../../events/event.entity';
import { type CursorScope, type IdWindow, idWindow, Page } from '../../infrastructure/pagination/page';
import { WebhooksService } from '../../webhooks/webhooks.service';
import {
  Delivery,
  DELIVERY_STATUSES,
  type DeliveryStatus,
  LISTED_COLUMNS,
  type ListedDelivery,
} from '../rows/delivery.entity';
import { asShown } from '../rows/stopping';
import { decodeChangeCursor, encodeChangeCursor } from './change-position';
import { ChangesService } from './changes.service';
import {
  type ChangeFilters,
  conditionsOf,
  type DeliveryFilters,
  matches,
  requireStateAlone,
  statusOfState,
} from './delivery-filters';
import type { DeliveryCountDto, DeliveryCountQueryDto, DeliveryQueryDto } from './dto/delivery-query.dto';

const MAX_LIMIT = 250;

const STOPPING = statement(
  'stopping_webhooks_of_user',
)`select webhook_id as "webhookId" from webhook_service.stopping_webhooks where user_id = $1`;

export interface LoggedDelivery {
  delivery: Delivery;
  body: string;
}

interface FoundRows {
  rows: ListedDelivery[];
  /** Id of the last row scanned when there may be more rows; otherwise null. */
  lookedUpTo: string | null;
}

const MAX_LOOKED_AT = 10_000;
/** Lower maximum for `givenUp` and `state`, because the later rows of each event are scanned too. */
const MAX_LOOKED_AT_WITH_LATER = 1000;

type Bind = (value: unknown) => string;

/** A way to read rows, in the order of one index or of several that are merged. */
interface Way {
  /** The column values of each index, in index order, up to the id. */
  paths: Column[][];
  met: (keyof ChangeFilters)[];
}

type Column = readonly [
  name: 'user_id' | 'webhook_id' | 'event_id' | 'event' | 'subject' | 'status' | 'trigger',
  value: string,
];

/**
 * Reads the delivery log. Users see only deliveries to their own webhooks. Every query scans a bounded number of rows, in the
 * order of an index.
 */
@Injectable()
export class DeliveryLogService {
  private readonly counts = new KeyedMutex(1);

  constructor(
    @InjectRepository(Delivery) private readonly deliveries: Repository<Delivery>,
    @InjectRepository(Event) private readonly events: Repository<Event>,
    private readonly webhooks: WebhooksService,
    private readonly statements: StatementsService,
    private readonly changes: ChangesService,
    private readonly clock: ClockService,
    private readonly config: Config,
  ) {}

  /** Newest first, or with `changedAfter` in the order in which they changed. */
  async list(
    user: Principal,
    webhookId: string,
    query: DeliveryQueryDto,
    signal: AbortSignal,
  ): Promise<Page<ListedDelivery>> {
    const isOfChanges = wantsChanges(query);
    await this.webhooks.read(user.userId, { id: webhookId });
    const ofWebhook = { ...query, webhookId };
    return isOfChanges
      ? this.changed(user, `changes of ${webhookId}`, ofWebhook, signal)
      : this.page(user.userId, `deliveries of ${webhookId}`, ofWebhook);
  }

  /** Returns the deliveries to all webhooks of the user, including deleted ones, in the same orders. */
  async listAll(user: Principal, query: DeliveryQueryDto, signal: AbortSignal): Promise<Page<ListedDelivery>> {
    return wantsChanges(query)
      ? this.changed(user, 'changes', query, signal)
      : this.page(user.userId, 'deliveries', query);
  }

  /** Counts the deliveries to all webhooks of the user; one count of a user at a time, because it reads up to 10,000 rows. */
  async count(userId: string, query: DeliveryCountQueryDto): Promise<DeliveryCountDto> {
    const { since, until, ...filters } = query;
    requireStateAlone(filters);
    const end = await this.counts.acquire(userId);
    try {
      return await this.countRows(userId, filters, idWindow({ since, until }, [userId, 'count', {}]));
    } finally {
      end();
    }
  }

  /** Returns a delivery with the body of its event, which is empty when the event has been dropped. */
  async read(userId: string, webhookId: string, id: string): Promise<LoggedDelivery> {
    await this.webhooks.read(userId, { id: webhookId });
    return this.readKept(userId, webhookId, id);
  }

  /** Returns the same, even after the webhook was deleted. */
  async readKept(userId: string, webhookId: string, id: string): Promise<LoggedDelivery> {
    return this.withBody(await this.deliveries.findOneBy({ id, userId, webhookId }), MESSAGES.deliveryNotFound);
  }

  /** Returns a delivery to any webhook of the user, including deleted ones. */
  async readOwn(userId: string, id: string): Promise<LoggedDelivery> {
    return this.withBody(await this.deliveries.findOneBy({ id, userId }), MESSAGES.noDelivery);
  }

  private async withBody(delivery: Delivery | null, absent: string): Promise<LoggedDelivery> {
    if (!delivery) throw new ApiError('not_found', absent);
    const event = await this.events.findOneBy({ id: delivery.eventId });
    return { delivery, body: event?.body ?? '' };
  }

  private async page(
    userId: string,
    list: string,
    { limit, cursor, since, until, ...filters }: DeliveryQueryDto & { webhookId?: string },
  ): Promise<Page<ListedDelivery>> {
    const scope: CursorScope = [userId, list, { ...filters, since, until }];
    const window = idWindow({ limit, cursor, since, until }, scope);
    const { rows, lookedUpTo } = await this.find(userId, filters, window, limit + 1);
    return Page.of(rows, limit, scope, lookedUpTo);
  }

  private async changed(
    principal: Principal,
    list: string,
    query: DeliveryQueryDto & { webhookId?: string },
    signal: AbortSignal,
  ): Promise<Page<ListedDelivery>> {
    const { limit, changedAfter = 'now', waitSeconds = 0, since, until, ...filters } = query;
    // All processes share this key, so each of them accepts a cursor.
    const key = this.config.secretsKeys[0] as Buffer;
    const scope: CursorScope = [principal.userId, list, { ...filters, since, until }];
    const after = changedAfter === 'now' ? null : decodeChangeCursor(changedAfter, scope, this.clock.now(), key);
    if (changedAfter !== 'now' && !after) throw invalidCursor('changedAfter', MESSAGES.badChangeCursor);
    const { changes, next } = await this.changes.read({
      principal,
      after,
      limit,
      waitMs: waitSeconds * 1000,
      isWanted: ({ row }) => matches(asShown(row), filters, { since, until }),
      signal,
    });
    const rows = changes.map(({ row }) => row);
    return Page.endless(rows, encodeChangeCursor(next, scope, this.clock.now(), key));
  }

  /** Returns up to `limit` rows, newest first, as of one moment. More may exist: see `lookedUpTo`. */
  private async find(userId: string, filters: DeliveryFilters, window: IdWindow, limit: number): Promise<FoundRows> {
    const isStopping = await this.isStopping(userId, filters);
    const way = wayTo(userId, filters, isStopping);
    if (way.paths.length === 0) return { rows: [], lookedUpTo: null };
    const values: unknown[] = [];
    const bind: Bind = (value) => `$${values.push(value)}`;
    const rest = conditionsOf(filters, way.met, bind, isStopping);
    // Without further conditions, every scanned row belongs to the page.
    const looksLater = filters.givenUp || filters.state;
    const most = rest.length === 0 ? limit : looksLater ? MAX_LOOKED_AT_WITH_LATER : MAX_LOOKED_AT;
    const where = rest.length === 0 ? '' : `where ${rest.join(' and ')}`;
    const page = `select ${LISTED_COLUMNS} from (${lookedAt(way, window, most, bind)}) as d ${where} ${newest(way, limit)}`;
    const rows = await this.statements.runByIndex<ListedDelivery>(page, values);
    if (rest.length === 0 || rows.length === limit) return { rows, lookedUpTo: null };
    return { rows, lookedUpTo: await this.lastOf(way, window, most) };
  }

  /** Counts rows. `atLeast`: the scan reached its maximum, so there may be more. */
  private async countRows(userId: string, filters: DeliveryFilters, window: IdWindow) {
    const isStopping = await this.isStopping(userId, filters);
    const way = wayTo(userId, filters, isStopping);
    if (way.paths.length === 0) return { count: 0, atLeast: false };
    const values: unknown[] = [];
    const bind: Bind = (value) => `$${values.push(value)}`;
    const rest = conditionsOf(filters, way.met, bind, isStopping);
    const where = rest.length === 0 ? '' : `where ${rest.join(' and ')}`;
    const counted = `select count(*)::int as count from (${lookedAt(way, window, MAX_LOOKED_AT, bind)}) as d ${where}`;
    const [row] = await this.statements.runByIndex<{ count: number }>(counted, values);
    return { count: row?.count ?? 0, atLeast: (await this.lastOf(way, window, MAX_LOOKED_AT + 1)) !== null };
  }

  /** Returns whether rows that these filters find may be about to be canceled, because their webhook is stopping. */
  private async isStopping(userId: string, { webhookId, status, state, error }: DeliveryFilters): Promise<boolean> {
    if (!status && !state && !error) return false;
    const stopping = await this.statements.run<{ webhookId: string }>(STOPPING, [userId]);
    return stopping.some((each) => webhookId === undefined || each.webhookId === webhookId.toLowerCase());
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

function wantsChanges({ changedAfter, waitSeconds, cursor, limit, ...filters }: DeliveryQueryDto): boolean {
  requireStateAlone(filters);
  if (changedAfter !== undefined) {
    if (filters.state) throw invalid('query.state', MESSAGES.stateAlone);
    if (cursor !== undefined) throw invalid('query.cursor', MESSAGES.cursorWithChanges);
    return true;
  }
  if (waitSeconds) throw invalid('query.waitSeconds', MESSAGES.waitWithoutChanges);
  if (limit > MAX_LIMIT) throw invalid('query.limit', MESSAGES.limitWithoutChanges);
  return false;
}

/** SQL for the rows of a way in a window, merged, newest first. PostgreSQL reads only as many rows as the outer query requires. */
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
  if (last?.[0] === 'subject') conditions.push(`id >= ${SUBJECTS_FROM}`);
  if (from) conditions.push(`id >= ${bind(from)}`);
  if (before) conditions.push(`id < ${bind(before)}`);
  return `select * from webhook_service.deliveries where ${conditions.join(' and ')}`;
}

/** Chooses the index with the fewest rows, as far as the filters tell. */
function wayTo(userId: string, filters: DeliveryFilters, isStopping: boolean): Way {
  const { webhookId, event, subject, eventId, trigger } = filters;
  const user: Column = ['user_id', userId];
  if (eventId !== undefined) return { paths: [[user, ['event_id', eventId]]], met: ['eventId'] };
  if (subject !== undefined) return { paths: [[user, ['subject', subject]]], met: ['subject'] };
  const owner: Column = webhookId === undefined ? user : ['webhook_id', webhookId];
  const statuses = statusesOf(filters);
  const isMixed = isStopping && statuses.some((status) => status === 'canceled' || status === 'pending');
  if (isMixed && !statuses.includes('succeeded')) {
    // Pending rows may be shown as canceled: a condition decides for each row, and no index has both for a webhook.
    const stored = [...new Set<DeliveryStatus>([...statuses, 'pending'])];
    return { paths: stored.map((status) => [user, ['status', status]]), met: [] };
  }
  if (statuses.every((status) => status === 'failed' || status === 'canceled'))
    return { paths: statuses.map((status) => [owner, ['status', status]]), met: ['webhookId', 'status'] };
  if (statuses.every((status) => status === 'pending'))
    return { paths: [[user, ['status', 'pending']]], met: ['status'] };
  if (trigger !== undefined && trigger !== 'event')
    return { paths: [[owner, ['trigger', trigger]]], met: ['webhookId', 'trigger'] };
  if (event !== undefined) return { paths: [[user, ['event', event]]], met: ['event'] };
  return { paths: [[owner]], met: ['webhookId'] };
}

function statusesOf({ status, state, error, responseStatus, givenUp }: DeliveryFilters): DeliveryStatus[] {
  const possible = status ?? (state ? [...new Set(state.map(statusOfState))] : DELIVERY_STATUSES);
  const isFailed = givenUp || responseStatus === 'none';
  const isFailure =
    isFailed || error !== undefined || (responseStatus !== undefined && !responseStatus.startsWith('2'));
  return possible.filter((one) => one === 'failed' || (!isFailed && (one === 'canceled' || !isFailure)));
}
