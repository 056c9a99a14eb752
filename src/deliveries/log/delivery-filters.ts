import { invalid, MESSAGES } from '../../infrastructure/errors/api-error';
import { lowestIdOf } from '../../infrastructure/database/id-time';
import type { Delivery, DeliveryStatus, Trigger } from '../rows/delivery.entity';
import type { ErrorCode } from '../rows/delivery-error';
import { isStopped, shownErrorOf, shownStatusOf } from '../rows/stopping';

/** What became of an event at a webhook: the state of its newest delivery, apart from tests. */
const STATES = {
  delivered: { status: 'succeeded', sql: 'true' },
  waiting: { status: 'pending', sql: 'd.attempt = 1' },
  retrying: { status: 'pending', sql: 'd.attempt > 1' },
  gave_up: { status: 'failed', sql: 'd.next_attempt_at is null' },
  canceled: { status: 'canceled', sql: 'true' },
} as const satisfies Record<string, { status: DeliveryStatus; sql: string }>;

export type DeliveryState = keyof typeof STATES;

export const DELIVERY_STATES = Object.keys(STATES) as DeliveryState[];

export const statusOfState = (state: DeliveryState): DeliveryStatus => STATES[state].status;

export interface DeliveryFilters extends ChangeFilters {
  /** Only the newest delivery of each event to each webhook, apart from tests, in one of these states. */
  state?: readonly DeliveryState[];
}

/** The filters that the change feed knows too. */
export interface ChangeFilters {
  webhookId?: string;
  event?: string;
  subject?: string;
  eventId?: string;
  trigger?: Trigger;
  status?: readonly DeliveryStatus[];
  error?: ErrorCode;
  /** An exact status, `2xx` to `5xx`, or `none` for failures without a response. */
  responseStatus?: string;
  /** Failed permanently, with no later success or pending attempt of that event to that webhook. */
  givenUp?: true;
}

export function requireStateAlone({ state, status, givenUp }: DeliveryFilters): void {
  if (state && (status || givenUp)) throw invalid('query.state', MESSAGES.stateAlone);
}

export type FilteredRow = Pick<
  Delivery,
  'id' | 'webhookId' | 'event' | 'subject' | 'eventId' | 'trigger' | 'status' | 'errorCode' | 'responseStatus'
> & { isGivenUp: boolean };

type FilterName = keyof ChangeFilters;
type Bind = (value: unknown) => string;

/** SQL condition: the row `d` failed permanently, with no later success or pending attempt. */
export const IS_GIVEN_UP = `
  (d.status = 'failed' and d.trigger <> 'test' and d.next_attempt_at is null and (
    -- A subquery for each row: a join would read the whole log.
    select l.id from webhook_service.deliveries l
    where l.user_id = d.user_id and l.event_id = d.event_id and l.webhook_id = d.webhook_id and l.id > d.id
      and l.status in ('succeeded', 'pending') and not (l.status = 'pending' and ${isStopped('l')}) limit 1) is null)`;

/** SQL condition: no later delivery of the event to the webhook exists, apart from tests. */
const IS_NEWEST = `
  (d.trigger <> 'test' and (
    -- A subquery for each row: a join would read the whole log.
    select l.id from webhook_service.deliveries l
    where l.user_id = d.user_id and l.event_id = d.event_id and l.webhook_id = d.webhook_id and l.id > d.id
      and l.trigger <> 'test' limit 1) is null)`;

const isInState = (states: readonly DeliveryState[], { status }: ShownColumns): string => {
  const any = states.map((state) => `(${status} = '${STATES[state].status}' and ${STATES[state].sql})`);
  return `(${any.join(' or ')}) and ${IS_NEWEST}`;
};

/** SQL for the columns of a row `d` that are shown otherwise than stored while its webhook is stopping. */
interface ShownColumns {
  status: string;
  error: string;
}

/** For users without a webhook that is stopping, so that their statements need not ask for one in every row. */
const STORED: ShownColumns = { status: 'd.status', error: 'd.error_code' };
const SHOWN: ShownColumns = { status: shownStatusOf('d'), error: shownErrorOf('d') };

/** Each filter in two forms: as SQL for a row `d`, and as a predicate for a row in memory. */
const CONDITIONS: {
  [Name in FilterName]-?: {
    sql: (value: NonNullable<ChangeFilters[Name]>, bind: Bind, columns: ShownColumns) => string;
    matches: (row: FilteredRow, value: NonNullable<ChangeFilters[Name]>) => boolean;
  };
} = {
  webhookId: {
    sql: (id, bind) => `d.webhook_id = ${bind(id)}`,
    matches: (row, id) => row.webhookId === id.toLowerCase(),
  },
  event: { sql: (name, bind) => `d.event = ${bind(name)}`, matches: (row, name) => row.event === name },
  subject: {
    sql: (subject, bind) => `d.subject = ${bind(subject)}`,
    matches: (row, subject) => row.subject === subject,
  },
  eventId: { sql: (id, bind) => `d.event_id = ${bind(id)}`, matches: (row, id) => row.eventId === id.toLowerCase() },
  trigger: {
    sql: (trigger, bind) => `d.trigger = ${bind(trigger)}`,
    matches: (row, trigger) => row.trigger === trigger,
  },
  status: {
    sql: (statuses, bind, { status }) => `${status} = any(${bind(statuses)})`,
    matches: ({ status }, statuses) => statuses.includes(status),
  },
  error: {
    sql: (code, bind, { error }) => `${error} = ${bind(code)}`,
    matches: ({ errorCode }, code) => errorCode === code,
  },
  responseStatus: {
    sql: (wanted, bind) => {
      if (wanted === 'none') return `d.status = 'failed' and d.response_status is null`;
      const [from, to] = statusRange(wanted);
      return `d.response_status between ${bind(from)} and ${bind(to)}`;
    },
    matches: ({ status, responseStatus }, wanted) => {
      if (wanted === 'none') return status === 'failed' && responseStatus === null;
      const [from, to] = statusRange(wanted);
      return responseStatus !== null && responseStatus >= from && responseStatus <= to;
    },
  },
  givenUp: { sql: () => IS_GIVEN_UP, matches: ({ isGivenUp }) => isGivenUp },
};

const NAMES = Object.keys(CONDITIONS) as FilterName[];

/**
 * Returns the conditions of the filters, except those in `met`, as SQL for a row `d`.
 * @param isStopping whether a webhook of these rows may be stopping
 */
export function conditionsOf(
  filters: DeliveryFilters,
  met: readonly FilterName[],
  bind: Bind,
  isStopping: boolean,
): string[] {
  const columns = isStopping ? SHOWN : STORED;
  const conditions = NAMES.filter((name) => filters[name] !== undefined && !met.includes(name)).map((name) =>
    (CONDITIONS[name].sql as (value: unknown, bind: Bind, columns: ShownColumns) => string)(
      filters[name],
      bind,
      columns,
    ),
  );
  return filters.state ? [...conditions, isInState(filters.state, columns)] : conditions;
}

export function matches(
  row: FilteredRow,
  filters: ChangeFilters,
  { since, until }: { since?: Date; until?: Date },
): boolean {
  if (since && row.id < lowestIdOf(since.getTime())) return false;
  if (until && row.id >= lowestIdOf(until.getTime())) return false;
  return NAMES.every(
    (name) =>
      filters[name] === undefined ||
      (CONDITIONS[name].matches as (row: FilteredRow, value: unknown) => boolean)(row, filters[name]),
  );
}

function statusRange(wanted: string): [from: number, to: number] {
  return [Number(wanted.replace('xx', '00')), Number(wanted.replace('xx', '99'))];
}
