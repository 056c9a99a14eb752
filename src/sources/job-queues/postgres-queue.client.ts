import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import type { QueueName } from '../../infrastructure/config/queue-name';
import type { JobFacts } from './job-memory';
import { jobUserOf } from './job-user';
import { QUEUE_EVENT_KINDS, readQueueEvent } from './queue-event';
import type { Cursor, StreamPage, QueueStream } from './queue-stream';

/** BullMQ's default schema. BullMQ on PostgreSQL has no prefixes, so a prefix names the schema here. */
const DEFAULT_SCHEMA = 'bullmq';
const BEGINNING: Cursor = { position: '0', seen: [] };
/** Entries per page. Each may hold a result of any size. */
const MAX_ENTRIES = 200;
const WAIT_MS = 200;
/** An entry gets its number before it is committed, so numbers younger than this are read again. */
const SETTLED_AFTER_MS = 5000;
/** Error codes while BullMQ has not created its tables yet. */
const NOT_THERE = ['42P01', '3F000'];

interface Poll {
  /** The highest number assigned, across all queues of the schema. */
  last: string;
  oldest: string | null;
  newest: string | null;
  maxLength: string;
  nowMs: string;
  entries: { id: string; event: string; data: Record<string, unknown>; ms: number }[];
}

interface JobRow {
  id: string;
  name: string;
  userId: unknown;
  attemptsStarted: number;
  stack: string | null;
}

/** Event stream of a queue that BullMQ keeps in the service's database. All queues share a sequence of numbers. */
export class PostgresQueueClient implements QueueStream {
  readonly key: string;
  private readonly name: string;
  private readonly schema: string;
  private readonly closed = new AbortController();
  /** The highest number assigned at each query, oldest first. After `SETTLED_AFTER_MS`, everything up to it is settled. */
  private marks: { last: number; atMs: number }[] = [];
  private readUpTo = 0;

  constructor(
    private readonly dataSource: DataSource,
    { prefix, name }: QueueName,
  ) {
    const schema = prefix ?? DEFAULT_SCHEMA;
    this.key = `postgres ${schema}:${name}`;
    this.name = name;
    this.schema = `"${schema.replaceAll('"', '""')}"`;
  }

  async end(): Promise<Cursor> {
    const sql = `select (case when is_called then last_value else 0 end)::text as last from ${this.schema}.event_seq`;
    const [row] = await this.rows<{ last: string }>(sql, []);
    return row ? { position: row.last, seen: [] } : BEGINNING;
  }

  async read(cursor: Cursor): Promise<StreamPage> {
    const found = await this.poll(cursor);
    if (!found) return { events: [], next: cursor, loss: null };
    const known = Math.max(Number(cursor.position), this.readUpTo, ...cursor.seen.map(Number));
    if (Number(found.last) < known) {
      this.marks = [];
      this.readUpTo = 0;
      return { events: [], next: BEGINNING, loss: 'its numbers restarted, so it is read from its beginning' };
    }
    const { entries } = found;
    const isFull = entries.length === MAX_ENTRIES;
    const lostUpTo = lostBeyond(known, found);
    const settled = Math.max(Number(cursor.position), this.settled(found, isFull));
    const seen = [...cursor.seen, ...entries.map(({ id }) => id)].filter((id) => Number(id) > settled);
    if (!isFull) this.readUpTo = Number(found.last);
    return {
      events: entries
        // The number alone is not unique forever: it restarts when BullMQ's tables are recreated.
        .map(({ id, event, data, ms }) => readQueueEvent(`${id}-${ms}`, new Date(ms), { ...data, event }))
        .filter((event) => event !== null),
      next: { position: String(settled), seen },
      loss: lostUpTo === null ? null : `entries before number ${lostUpTo + 1} were trimmed and may be missing`,
    };
  }

  async facts(jobIds: readonly string[]): Promise<Map<string, JobFacts>> {
    if (jobIds.length === 0) return new Map();
    const sql = `
      select id, name, data->'userId' as "userId", attempts_started as "attemptsStarted", stacktrace->>-1 as stack
      from ${this.schema}.job where queue = $1 and id = any($2::text[])`;
    const rows = await this.rows<JobRow>(sql, [this.name, jobIds]);
    return new Map(
      rows.map(({ id, name, userId, attemptsStarted, stack }) => [
        id,
        { name, user: jobUserOf(userId), attemptsStarted, stack },
      ]),
    );
  }

  async wait(): Promise<void> {
    await pause(WAIT_MS, undefined, { signal: this.closed.signal }).catch(() => undefined);
  }

  close(): void {
    this.closed.abort();
  }

  /** Returns the number up to which every entry has been seen and no other one can still be committed. */
  private settled({ last, nowMs, entries }: Poll, isFull: boolean): number {
    const settledMs = Number(nowMs) - SETTLED_AFTER_MS;
    this.marks.push({ last: Number(last), atMs: Number(nowMs) });
    const young = this.marks.findIndex(({ atMs }) => atMs > settledMs);
    const mark = this.marks[young - 1];
    if (mark) this.marks = this.marks.slice(young - 1);
    if (!isFull) return mark?.last ?? 0;
    const youngEntry = entries.findIndex(({ ms }) => ms > settledMs);
    const settledEntry = youngEntry < 0 ? entries.at(-1) : entries[youngEntry - 1];
    return Number(settledEntry?.id ?? 0);
  }

  private async poll({ position, seen }: Cursor): Promise<Poll | undefined> {
    const sql = `
      select s.last_value::text as last,
        (select min(id) from ${this.schema}.event where queue = $1)::text as oldest,
        (select max(id) from ${this.schema}.event where queue = $1)::text as newest,
        coalesce((select value from ${this.schema}.meta where queue = $1 and field = 'opts.maxLenEvents'), '10000')
          as "maxLength",
        (extract(epoch from clock_timestamp()) * 1000)::bigint::text as "nowMs",
        coalesce((
          select json_agg(e order by e.number) from (
            select id as number, id::text as id, event, data, created_at_ms as ms from ${this.schema}.event
            where queue = $1 and id > $2 and event = any($3::text[]) and not (id = any($4::bigint[]))
            order by event.id limit $5
          ) e), '[]') as entries
      from ${this.schema}.event_seq s`;
    const [row] = await this.rows<Poll>(sql, [this.name, position, QUEUE_EVENT_KINDS, seen, MAX_ENTRIES]);
    return row;
  }

  private async rows<Row>(sql: string, values: unknown[]): Promise<Row[]> {
    try {
      return await this.dataSource.query<Row[]>(sql, values);
    } catch (error) {
      if (NOT_THERE.includes(String((error as { code?: unknown }).code))) return [];
      throw error;
    }
  }
}

/**
 * Returns the last number that may be lost; null if none may. Trimming deletes the lowest numbers of the schema.
 * Numbers that were read before, or that belong to another queue, are not lost.
 */
function lostBeyond(known: number, { oldest, newest, maxLength }: Poll): number | null {
  if (oldest === null) return null;
  const mayBeTrimmed = Number(newest) - Number(maxLength) > known;
  return mayBeTrimmed && Number(oldest) > known + 1 ? Number(oldest) - 1 : null;
}
