import type { Chronicle, Interval } from '../../support/chronicle';
import type { Accepted } from './chaos-load';
import type { Subscriber } from './chaos-stage';
import type { LedgerEntry } from './ledger';

/** A row of the log, times in milliseconds since 1970. */
export interface LogRow {
  id: string;
  webhookId: string;
  eventId: string;
  attempt: number;
  status: string;
  errorCode: string | null;
  scheduledAt: number;
  completedAt: number | null;
}

export const LOG_ROWS = `
  select id, webhook_id as "webhookId", event_id as "eventId", attempt, status, error_code as "errorCode",
         (extract(epoch from scheduled_at) * 1000)::float8 as "scheduledAt",
         (extract(epoch from completed_at) * 1000)::float8 as "completedAt"
  from webhook_service.deliveries`;

/** An answer that took this long was held on purpose. */
const LATE_MS = 2000;

/** Everything that a run has left behind. */
export interface Evidence {
  accepted: readonly Accepted[];
  subscribers: readonly Subscriber[];
  entries: readonly LedgerEntry[];
  rows: readonly LogRow[];
  /** Where the counts of attempts differ from the log. */
  miscounts: readonly string[];
  chronicle: Chronicle;
}

export interface Verdict {
  /** Accepted events, each once for every webhook that subscribes to it. */
  expected: number;
  received: number;
  /** Expected and never received. */
  lost: string[];
  /** Received, but with no row in the log. */
  withoutRow: string[];
  /** The log says that it was received, but it never was. */
  neverReceived: string[];
  /** Rows that are still pending. */
  pending: string[];
  /** Attempts that are not 1..n, or do not end with a success. */
  misnumbered: string[];
  forged: string[];
  /** Attempts that were received more than once, and those of them that were not in flight at any tear. */
  doubled: string[];
  unexplained: string[];
  miscounts: readonly string[];
  /** How many attempts were in flight when a tear began or ended. */
  inFlight: number;
  /** Failures that are not the receiver's: they cost an attempt. */
  unscripted: string[];
}

/** Holds what clients were told against what the receiver got and what the log says. */
export function verdictOf(evidence: Evidence): Verdict {
  const { entries, rows, miscounts, chronicle } = evidence;
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const receipts = groupBy(entries, ({ deliveryId }) => deliveryId);
  const doubled = [...receipts].filter(([, list]) => list.length > 1).map(([id]) => id);
  const torn = (row: LogRow) => chronicle.tears.some((tear) => wasInFlight(row, tear));
  return {
    ...lostOf(evidence),
    ...logOf(evidence, rowOf),
    neverReceived: rows.filter(({ id, status }) => status === 'succeeded' && !receipts.has(id)).map(({ id }) => id),
    forged: entries.filter(({ isGenuine }) => !isGenuine).map(({ deliveryId }) => deliveryId),
    doubled: doubled.map((id) => describe(rowOf.get(id), receipts.get(id))),
    unexplained: doubled
      .filter((id) => !torn(rowOf.get(id) as LogRow))
      .map((id) => describe(rowOf.get(id), receipts.get(id))),
    miscounts,
    inFlight: inFlightAt(rows, chronicle.tears),
    unscripted: rows.filter((row) => isUnscripted(row, receipts.get(row.id))).map((row) => describe(row)),
  };
}

/** How many attempts were due and not yet recorded when one of these began or ended. */
export function inFlightAt(rows: readonly LogRow[], intervals: readonly Interval[]): number {
  const edges = intervals.flatMap(({ from, until }) => [from, until]);
  return rows.filter((row) => edges.some((edge) => wasInFlight(row, { from: edge, until: edge }))).length;
}

export function subscribes({ events }: Pick<Subscriber, 'events'>, event: string): boolean {
  return events.some((pattern) => pattern === '*' || pattern === event || pattern === event.replace(/\.[^.]+$/, '.*'));
}

function lostOf({ accepted, subscribers, entries }: Evidence) {
  const received = new Set(entries.map(({ to, eventId }) => `${to} ${eventId}`));
  const expected = accepted.flatMap(({ id, event, acceptedAt }) =>
    subscribers
      .filter((subscriber) => subscribes(subscriber, event))
      .map(({ name }) => ({ pair: `${name} ${id}`, at: new Date(acceptedAt).toISOString() })),
  );
  const lost = expected.filter(({ pair }) => !received.has(pair)).map(({ pair, at }) => `${pair} accepted ${at}`);
  return { expected: expected.length, received: entries.length, lost };
}

function logOf({ entries, rows, subscribers }: Evidence, rowOf: Map<string, LogRow>) {
  const webhookIds = new Map(subscribers.map(({ name, webhookId }) => [name, webhookId]));
  const hasRow = ({ to, deliveryId, eventId, attempt }: LedgerEntry) => {
    const row = rowOf.get(deliveryId);
    return row?.webhookId === webhookIds.get(to) && row?.eventId === eventId && row?.attempt === attempt;
  };
  const threads = groupBy(rows, ({ webhookId, eventId }) => `${webhookId} ${eventId}`);
  const isWell = (thread: LogRow[]) => {
    const ordered = thread.toSorted((a, b) => a.attempt - b.attempt);
    return ordered.every(({ attempt, status }, i) => {
      const isLast = i === ordered.length - 1;
      return attempt === i + 1 && status === (isLast ? 'succeeded' : 'failed');
    });
  };
  const settled = [...threads].filter(([, thread]) => thread.every(({ status }) => status !== 'pending'));
  return {
    withoutRow: entries.filter((entry) => !hasRow(entry)).map(({ to, deliveryId }) => `${deliveryId} to ${to}`),
    pending: rows.filter(({ status }) => status === 'pending').map((row) => describe(row)),
    misnumbered: settled.filter(([, thread]) => !isWell(thread)).map(([key, thread]) => `${key}: ${list(thread)}`),
  };
}

/** The receiver answers 500 by its script, or late when it was told to hold its answers. */
function isUnscripted(row: LogRow, receipts: readonly LedgerEntry[] = []): boolean {
  const isScripted = ({ status, receivedAt, answeredAt }: LedgerEntry) =>
    status !== 200 || answeredAt === null || answeredAt - receivedAt > LATE_MS;
  return row.status === 'failed' && !receipts.some(isScripted);
}

function wasInFlight({ scheduledAt, completedAt }: LogRow, { from, until }: Interval): boolean {
  return scheduledAt <= until && (completedAt ?? Infinity) >= from;
}

function list(thread: readonly LogRow[]): string {
  return thread.map(({ attempt, status, errorCode }) => `${attempt} ${status} ${errorCode ?? ''}`).join(', ');
}

function describe(row?: LogRow, receipts: readonly LedgerEntry[] = []): string {
  const times = receipts.map(({ receivedAt, status }) => `${new Date(receivedAt).toISOString()} ${status}`).join(', ');
  if (!row) return `no row (received ${times})`;
  const { id, attempt, status, errorCode, scheduledAt, completedAt } = row;
  const completed = completedAt === null ? '' : `, completed ${new Date(completedAt).toISOString()}`;
  const life = `scheduled ${new Date(scheduledAt).toISOString()}${completed}`;
  return `${id} attempt ${attempt} ${status} ${errorCode ?? ''} (${life}${times ? `, received ${times}` : ''})`;
}

function groupBy<T>(list: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of list) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
