import { Injectable } from '@nestjs/common';
import { idBounds } from '../../plumbing/database/id-bounds';
import { type Statement, StatementsService } from '../../plumbing/database/statements.service';
import { patternsSql } from '../../webhooks/event-pattern';
import { EVENT_LEASE } from '../lease';
import { IS_OPEN, isOneOf } from '../found-by-id';

/** A webhook that gets an event, with everything that sending takes. */
export interface Subscriber {
  eventId: string;
  /** Null: the event has no subscriber, or none whose delivery has no row yet. The other columns are null then. */
  webhookId: string | null;
  /** The owner of the webhook. */
  userId: string;
  url: string;
  sealedSecret: Buffer;
  sealedPreviousSecret: Buffer | null;
  /** Of the event, as the next three: only with the first of its subscribers in a page. */
  event: string | null;
  /** Null also when it is too large to be held in memory. */
  body: string | null;
  traceparent: string | null;
  acceptedAt: Date | null;
}

/** Larger bodies are not held in memory while their deliveries wait for a slot. */
const MAX_HELD_BYTES = 65_536;

const SUBSCRIBED = `w.active and w.events && e.patterns and w.created_at < e.accepted_at`;

/**
 * A delivery that has a row is not begun again. Also a new event may have rows: a queue store that crashes can forget that a
 * job was done. The id of a first delivery has the event's time: $4 and $5 lead to the partitions, and the bounds of the
 * event to a few rows of the primary key. Compared as text, because an index of webhooks or users leads through their whole day.
 */
const UNSENT = `not exists (
  select from webhook_service.deliveries d
  where d.id between e.first_id and e.last_id and d.id between $4 and $5
    and d.event_id = e.id and d.webhook_id::text = w.id::text)`;

/** What is computed of an event: the names and patterns that subscribe to it, and the bounds of the ids of its first deliveries. */
const COMPUTED = `
  ${patternsSql('name')} as patterns,
  overlay(id::text placing '-0000-0000-000000000000' from 14)::uuid as first_id,
  overlay(id::text placing '-ffff-ffff-ffffffffffff' from 14)::uuid as last_id`;

/**
 * The webhooks that get the events `e`: they are active, subscribed, and were created before the event. For an event of one
 * user only that user's webhooks are searched, however many others have subscribed to the same event.
 */
const subscribersOf = ({ where, columns = '' }: { where: string; columns?: string }): string => `
  select ${columns} e.id as "eventId", w.id as "webhookId", w.user_id as "userId", w.url, w.secret as "sealedSecret",
         case when w.previous_secret_expires_at > now() then w.previous_secret end as "sealedPreviousSecret",
         case when lag(e.id) over o is distinct from e.id then e.name end as event,
         case when lag(e.id) over o is distinct from e.id and octet_length(e.body) <= ${MAX_HELD_BYTES} then e.body end as body,
         case when lag(e.id) over o is distinct from e.id then e.traceparent end as traceparent,
         case when lag(e.id) over o is distinct from e.id then e.accepted_at end as "acceptedAt"
  from e left join lateral (
    select w.* from webhook_service.webhooks w where w.user_id = e.user_id and ${SUBSCRIBED} and ${UNSENT}
    union all
    select w.* from webhook_service.webhooks w where e.user_id is null and ${SUBSCRIBED} and ${UNSENT}
  ) as w on true
  where ${where}
  window o as (order by e.id, w.id)
  order by e.id, w.id
  limit $6`;

/**
 * One worker claims an event at a time. A new event is offered once, so the worker that gets the offer is alone while the
 * lease of the insert lasts: it does not write its claim, which saves an update of every event, and `HOLD` does so before that
 * lease ends. An event that the sweeper has had, or whose offer comes late, may be offered twice: there the row decides.
 */
const CLAIM: Statement = {
  name: 'claim_events',
  text: `
    with offered as materialized (
      select id, name, user_id, accepted_at, body, traceparent,
             leased_until < accepted_at + interval '6 seconds' and leased_until > now() + interval '3 seconds' as is_new
      from webhook_service.events
      where ${isOneOf('events', '$1::uuid[]')} and ${IS_OPEN} and not claimed
    ), won as (
      update webhook_service.events set claimed = true, leased_until = now() + ${EVENT_LEASE}
      where ${isOneOf('events', 'array(select id from offered where not is_new)')}
        and ${IS_OPEN} and not claimed
      returning id
    ), e as materialized (
      select *, ${COMPUTED} from offered where is_new or id in (select id from won)
    )
    ${subscribersOf({ where: 'true', columns: 'case when row_number() over o = 1 then array(select id from e) end as claimed,' })}`,
};

const NEXT_SUBSCRIBERS: Statement = {
  name: 'next_subscribers',
  text: `
    with e as materialized (
      select id, name, user_id, accepted_at, body, traceparent, ${COMPUTED}
      from webhook_service.events where ${isOneOf('events', '$1::uuid[]')}
    )
    ${subscribersOf({ where: '(e.id, w.id) > ($7, $8)' })}`,
};

/** Claims as well: a worker that has held an event for a while goes on, whatever happens to its offer. */
const HOLD: Statement = {
  name: 'hold_events',
  text: `
    update webhook_service.events set claimed = true, leased_until = now() + ${EVENT_LEASE}
    where ${isOneOf('events', '$1::uuid[]')} and ${IS_OPEN}`,
};

/**
 * Does not wait until the commit is on the disk. If PostgreSQL crashes before that, the events are fanned out again, and
 * all deliveries have their rows. A later commit that waits for the disk brings this one to the disk too.
 */
const COMPLETE: Statement = {
  name: 'complete_events',
  text: `
    update webhook_service.events set fanned_out_at = now()
    where ${isOneOf('events', '$1::uuid[]')} and ${IS_OPEN}
      and (select set_config('synchronous_commit', 'off', true)) = 'off'`,
};

const PAGE = 5000;

/** The statements of the fan-out. */
@Injectable()
export class FanOutRepository {
  constructor(private readonly statements: StatementsService) {}

  /**
   * Claims events that are not fanned out yet and that nobody else holds, and reads their subscribers, in pages, in the order
   * of event and webhook. Each claimed event has at least one row.
   */
  async *claim(eventIds: readonly string[]): AsyncGenerator<{ page: Subscriber[]; isLast: boolean }> {
    const bounds = idBounds(eventIds);
    const values = [eventIds, ...bounds, ...firstDeliveryBounds(bounds), PAGE];
    let page = await this.statements.run<Subscriber & { claimed?: string[] }>(CLAIM, values);
    const claimed = page[0]?.claimed ?? [];
    for (;;) {
      const last = page.at(-1);
      const isLast = page.length < PAGE || !last;
      yield { page, isLast };
      if (isLast) return;
      const rest = claimed.filter((id) => id >= last.eventId);
      page = await this.statements.run(NEXT_SUBSCRIBERS, [rest, ...values.slice(1), last.eventId, last.webhookId]);
    }
  }

  /** Claims events and extends their leases. */
  async hold(eventIds: readonly string[]): Promise<void> {
    await this.statements.run(HOLD, [eventIds, ...idBounds(eventIds)]);
  }

  /** Marks events, all of whose deliveries have rows, as fanned out. */
  async complete(eventIds: readonly string[]): Promise<void> {
    await this.statements.run(COMPLETE, [eventIds, ...idBounds(eventIds)]);
  }
}

/** The ids of first deliveries begin with the time of their event. */
const firstDeliveryBounds = ([lowest, highest]: [string, string]): [string, string] => [
  `${lowest.slice(0, 13)}-0000-0000-000000000000`,
  `${highest.slice(0, 13)}-ffff-ffff-ffffffffffff`,
];
