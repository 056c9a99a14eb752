import { Injectable } from '@nestjs/common';
import { sharedStatement } from '../../infrastructure/concurrency/batcher';
import { idBounds } from '../../infrastructure/database/id-time';
import { type Statement, StatementsService } from '../../infrastructure/database/statements.service';
import { aboutSql, isNotAbout, patternsSql } from '../../webhooks/event-pattern';
import { DUE_WEBHOOK_COLUMNS, type DueWebhookColumns } from '../rows/due-webhook';
import { EVENT_LEASE } from '../rows/lease';
import { freeEvents, IS_OPEN, isOneOf } from '../rows/found-by-id';

/** A webhook that receives an event, with all the data that sending requires. */
export interface Subscriber extends DueWebhookColumns {
  eventId: string;
  /** Null when the event has no subscriber, or none whose delivery lacks a row. The other webhook columns are null then. */
  webhookId: string | null;
  userId: string;
  /** The version of the webhook's filter; null if it has none. */
  filterHash: string | null;
  /** Of the event, like the next five; set only for the first subscriber of a page. */
  event: string | null;
  /** Also null when it is too large to be held in memory. */
  body: string | null;
  subject: string | null;
  traceparent: string | null;
  audience: string | null;
  acceptedAt: Date | null;
}

/** Most subscribers of an event that its claim reads: an event of another user in the same statement does not wait for more. */
const MAX_FIRST = 128;
const PAGE = 5000;

/** Larger bodies are not held in memory while their deliveries wait for a slot. */
const MAX_HELD_BYTES = 65_536;

const SUBSCRIBED = `
  w.active and w.events && e.patterns and w.created_at < e.accepted_at and ${isNotAbout('e.about')}`;

/** The id of a first delivery: see `firstDeliveryId`. */
const FIRST_DELIVERY_ID = `(
  select (left(e.id::text, 13) || '-7' || left(hash, 3) || '-'
    || translate(substr(hash, 5, 1), '0123456789abcdef', '89ab89ab89ab89ab') || substr(hash, 6, 3) || '-' || substr(hash, 9, 12))::uuid
  from encode(sha256((e.id || '/' || w.id)::bytea), 'hex') as hash)`;

/**
 * Skips deliveries that already have a row. Even a new event may have rows: a queue store that crashes can lose the completion of
 * a job. $4 and $5 select the partitions. The offset keeps PostgreSQL from reading all rows between them.
 */
const UNSENT = `not exists (
  select from webhook_service.deliveries d where d.id between $4 and $5 and d.id = ${FIRST_DELIVERY_ID} offset 0)`;

/** What matches an event, and the webhook that it is about and must not reach. */
const COMPUTED = `
  ${patternsSql('name')} as patterns,
  ${aboutSql('name', 'body')} as about`;

/**
 * Selects the webhooks that receive the events `e`: active, subscribed, and created before the event; at most `limit` for each
 * event, by id. For an event of one user, only that user's webhooks are searched, however many others have subscribed to the same
 * event. For an event to all users, the order by text keeps PostgreSQL from walking the primary key past those who have not.
 */
const subscribersOf = ({ limit, and = '' }: { limit: number; and?: string }): string => `
  select e.id as "eventId", w.id as "webhookId", w.user_id as "userId", w.filter_hash as "filterHash",
         ${DUE_WEBHOOK_COLUMNS},
         case when lag(e.id) over o is distinct from e.id then e.name end as event,
         case when lag(e.id) over o is distinct from e.id and octet_length(e.body) <= ${MAX_HELD_BYTES} then e.body end as body,
         case when lag(e.id) over o is distinct from e.id then e.subject end as subject,
         case when lag(e.id) over o is distinct from e.id then e.traceparent end as traceparent,
         case when lag(e.id) over o is distinct from e.id then e.user_id end as audience,
         case when lag(e.id) over o is distinct from e.id then e.accepted_at end as "acceptedAt"
  from e left join lateral (
    (select w.* from webhook_service.webhooks w
     where w.user_id = e.user_id and ${SUBSCRIBED} and ${UNSENT} ${and} order by w.id limit ${limit})
    union all
    (select w.* from webhook_service.webhooks w
     where e.user_id is null and ${SUBSCRIBED} and ${UNSENT} ${and} order by w.id::text limit ${limit})
  ) as w on true
  window o as (order by e.id, w.id)
  order by e.id, w.id`;

/**
 * Claims events, so that one worker at a time holds an event. A new event is enqueued once, so the worker that gets it is alone
 * while the lease of the insert lasts. It does not write its claim, which saves an update of every event; `HOLD` writes it before
 * that lease ends. An event that the sweeper has enqueued, or whose job starts late, may be enqueued twice: then the row decides.
 * Those of $6 are known to be such, and found by their ids once less.
 */
const CLAIM: Statement = {
  name: 'claim_events',
  text: `
    with candidates as materialized (
      select id, name, user_id, accepted_at, body, subject, traceparent,
             leased_until < accepted_at + interval '6 seconds' and leased_until > now() + interval '3 seconds' as is_new
      from webhook_service.events
      where ${isOneOf('events', '$1::uuid[]')} and ${IS_OPEN} and not claimed
    ), free as materialized (
      ${freeEvents('(array(select id from candidates where not is_new) || $6::uuid[])', 'and not claimed')}
    ), won as (
      update webhook_service.events set claimed = true, leased_until = now() + ${EVENT_LEASE}
      where ${isOneOf('events', 'array(select id from free)')}
      returning id, name, user_id, accepted_at, body, subject, traceparent
    ), e as materialized (
      select *, ${COMPUTED} from (
        select id, name, user_id, accepted_at, body, subject, traceparent from candidates where is_new union all select * from won
      ) as claimed
    )
    ${subscribersOf({ limit: MAX_FIRST })}`,
};

const NEXT_SUBSCRIBERS: Statement = {
  name: 'next_subscribers',
  text: `
    with e as materialized (
      select id, name, user_id, accepted_at, body, subject, traceparent, ${COMPUTED}
      from webhook_service.events where ${isOneOf('events', '$1::uuid[]')}
    )
    ${subscribersOf({ limit: PAGE, and: 'and w.id > $6' })}`,
};

/** Also claims: a worker that has held an event for a while keeps it, whatever happens to its job. */
const HOLD: Statement = {
  name: 'hold_events',
  text: `
    with free as materialized (${freeEvents('$1::uuid[]')})
    update webhook_service.events set claimed = true, leased_until = now() + ${EVENT_LEASE}
    where ${isOneOf('events', 'array(select id from free)')}`,
};

/**
 * Does not wait until the commit is on disk. If PostgreSQL crashes before that, the events are fanned out again, and all
 * deliveries already have their rows. A later commit that waits for the disk flushes this one too.
 */
const COMPLETE: Statement = {
  name: 'complete_events',
  text: `
    with free as materialized (${freeEvents('$1::uuid[]')})
    update webhook_service.events set fanned_out_at = now()
    where ${isOneOf('events', 'array(select id from free)')}
      and (select set_config('synchronous_commit', 'off', true)) = 'off'`,
};

const BODY: Statement = {
  name: 'event_body',
  text: `select body from webhook_service.events where id = $1`,
};

const MAX_COMPLETIONS = 100;

type Row = Subscriber & Record<string, unknown>;

/** Subscribers of one event, by webhook. */
export interface Page {
  subscribers: Subscriber[];
  isLast: boolean;
}

@Injectable()
export class FanOutRepository {
  /** Marks an event as fanned out when all its deliveries have rows. Concurrent calls share a statement. */
  readonly complete = sharedStatement(
    (id: string) => id,
    async (ids): Promise<[]> => {
      await this.statements.run(COMPLETE, [ids, ...idBounds(ids)]);
      return [];
    },
    { maxItems: MAX_COMPLETIONS },
  );

  constructor(private readonly statements: StatementsService) {}

  /**
   * Claims events, and reads the first page of each event's subscribers: at least one row for each event that is claimed.
   * @param oldIds further events, whose leases are not those of their inserts
   */
  async claim(eventIds: readonly string[], oldIds: readonly string[] = []): Promise<Map<string, Page>> {
    const pages = new Map<string, Page>();
    const [, ...bounds] = values([...eventIds, ...oldIds]);
    for (const row of await this.statements.run<Row>(CLAIM, [eventIds, ...bounds, oldIds])) {
      const page = pages.get(row.eventId);
      if (page) page.subscribers.push(row);
      else pages.set(row.eventId, { subscribers: [row], isLast: true });
    }
    for (const page of pages.values()) page.isLast = page.subscribers.length < MAX_FIRST;
    return pages;
  }

  /** Reads the subscribers of a claimed event after the one with this id. */
  async next(eventId: string, webhookId: string): Promise<Page> {
    const subscribers = await this.statements.run<Row>(NEXT_SUBSCRIBERS, [...values([eventId]), webhookId]);
    return { subscribers, isLast: subscribers.length < PAGE };
  }

  async hold(eventIds: readonly string[]): Promise<void> {
    await this.statements.run(HOLD, [eventIds, ...idBounds(eventIds)]);
  }

  async bodyOf(eventId: string): Promise<string> {
    const [row] = await this.statements.run<{ body: string }>(BODY, [eventId]);
    if (!row) throw new Error(`Event ${eventId} was deleted during its fan-out.`);
    return row.body;
  }
}

/** Values of a statement on these events: their ids, and the bounds of these and of their first deliveries. */
function values(eventIds: readonly string[]): unknown[] {
  const [lowest, highest] = idBounds(eventIds);
  const first = `${lowest.slice(0, 13)}-0000-0000-000000000000`;
  return [eventIds, lowest, highest, first, `${highest.slice(0, 13)}-ffff-ffff-ffffffffffff`];
}
