import { Injectable } from '@nestjs/common';
import { sharedStatement } from '../../infrastructure/concurrency/batcher';
import { idBounds } from '../../infrastructure/database/id-time';
import { type Statement, StatementsService, statement } from '../../infrastructure/database/statements.service';
import type { ClaimedDelivery, Formatted, Grant } from './attempt';
import { DUE_WEBHOOK_COLUMNS, type DueWebhook, type DueWebhookColumns, dueWebhookOf } from './due-webhook';
import { JOB_LEASE, type LeaseKey } from './lease';
import { nextPermitInMs, RATE_COLUMNS, usedUntil } from './rate';
import type { HeaderMap } from './delivery.entity';
import { boundsFrom, isAmong, isOneOf, isPending, transition } from './found-by-id';
import { isStopped, isStopping } from './stopping';
import { OutcomesRepository } from './outcomes.repository';

/** The state of a row that a worker has claimed. No row is claimed twice, unless its lease has expired in between. */
const CLAIMED = `claimed = true, parked = false, leased_until = now() + ${JOB_LEASE}`;

/** How early a job may start. A job that starts earlier comes from a clock that is ahead. */
const SOON = `interval '1 second'`;

const COLUMNS = 'd.id, d.webhook_id, d.user_id, d.event_id, d.event, d.attempt, d.trigger, d.scheduled_at';
const read = (columns = ''): string => `
  select ${columns} d.id, d.webhook_id as "webhookId", d.user_id as "userId", d.event_id as "eventId", d.event, d.attempt, d.trigger,
         ceil(extract(epoch from d.scheduled_at - now()) * 1000)::float8 as "dueInMs", ${DUE_WEBHOOK_COLUMNS}
  from claimed d left join webhook_service.webhooks w on w.id = d.webhook_id`;

/** By itself, because it selects partitions; see `isAmong`. Deliveries of one event share its body. */
const READ_EVENTS = statement('read_events_of_attempts')`
    select e.id, e.body, e.subject, e.traceparent, e.user_id as audience from webhook_service.events e
    where ${isOneOf('e', '$1::uuid[]')}`;

/** Number of rows that `CLAIM_DEFERRED` claims of a webhook with a rate. */
const CHOSEN = '(select count(*) from chosen where chosen.webhook_id = paced.id)';

const CLAIM_QUEUED = statement('claim_deliveries')`
    with claimed as (${transition({
      from: `not claimed and not parked and scheduled_at <= now() + ${SOON} and not ${isStopped('d')}`,
      set: CLAIMED,
      returning: COLUMNS,
    })}
    ) ${read()}`;

/**
 * Claims rows of an active webhook for a consumer, the oldest due first. `found` has more: others may have locked the first of
 * them.
 */
const FIND_WAITING = `
      select id from webhook_service.deliveries
      where webhook_id between $1 and $1 and status = 'pending' and url is null and not claimed and scheduled_at <= now()
        and (select active from webhook_service.webhooks where id = $1)
      order by webhook_id, scheduled_at, event_id limit`;
const CLAIM_WAITING = statement('claim_waiting_deliveries')`
    with found as materialized (${FIND_WAITING} 10 * $2), due as materialized (${FIND_WAITING} $2 for update skip locked), claimed as (
      update webhook_service.deliveries d
      set claimed = true, leased_until = now() + $3 * interval '1 second', attempted_at = greatest(now(), d.scheduled_at)
      where ${isAmong('d', 'due', 'found')}
      returning ${COLUMNS}, d.attempted_at, d.leased_until
    ) ${read('d.attempted_at as "attemptedAt", d.leased_until as "leasedUntil",')}
    order by d.scheduled_at, d.event_id`;

/** The oldest deferred rows of a webhook `of`. Ordering by the index columns leaves PostgreSQL no other index. */
const parkedOf = (of: string, limit: string): string => `
        select id from webhook_service.deliveries p
        where p.user_id = ${of}.user_id and p.webhook_id between ${of}.webhook_id and ${of}.webhook_id
          and p.status = 'pending' and p.parked
        order by p.webhook_id, p.id limit ${limit}`;

/**
 * Claims the oldest rows first. Two workers never claim the same row. Of a webhook with a rate, it claims as many as the rate
 * permits now, and none while another transaction has locked that webhook.
 */
const CLAIM_DEFERRED = statement('claim_deferred_deliveries')`
    with paced as materialized (
      select ${RATE_COLUMNS} from webhook_service.webhooks w
      where w.id = any($2::uuid[]) and w.max_per_second is not null
      for no key update skip locked
    ), chosen as materialized (
      select first.id, wanted.webhook_id
      from (
        select one.user_id, one.webhook_id,
               case when ${isStopping('one.webhook_id')} then 0
                 else least(one.count, case when w.max_per_second is not null then coalesce(paced.permits, 0) end) end as count
        from unnest($1::text[], $2::uuid[], $3::int[]) as one (user_id, webhook_id, count)
        left join webhook_service.webhooks w on w.id = one.webhook_id
        left join paced on paced.id = one.webhook_id
      ) as wanted
      cross join lateral (${parkedOf('wanted', 'wanted.count for update skip locked')}) as first
    ), bounds as materialized (
      ${boundsFrom(`
      select first.id from unnest($1::text[], $2::uuid[]) as one (user_id, webhook_id)
      cross join lateral (${parkedOf('one', '1')}) as first`)}
    ), claimed as (
      update webhook_service.deliveries d set ${CLAIMED}
      where ${isAmong('d', 'chosen', 'bounds')}
      returning ${COLUMNS}
    ), used as (
      update webhook_service.webhooks w set rate_used_until = ${usedUntil(CHOSEN)}
      from paced where w.id = paced.id and ${CHOSEN} > 0
    )
    ${read(`(select ${nextPermitInMs(CHOSEN)} from paced where paced.id = d.webhook_id) as "nextPermitInMs",`)}`;

const EXTEND_LEASES: Statement = {
  name: 'extend_leases',
  text: transition({ set: `leased_until = greatest(d.leased_until, now() + ${JOB_LEASE})` }),
};

/** Only claimed rows: one that was canceled meanwhile stays canceled. Waits for locked rows: the consumer needs all of them. */
const HOLD = statement('hold_leases')`
    with lease as (
      select * from json_to_recordset($4::json) as l (id uuid, lease_id uuid, request_headers json, format text, request_body text)
    ), free as (
      select d.id from webhook_service.deliveries d
      where ${isOneOf('d', '$1::uuid[]')} and ${isPending('d')} and d.claimed
      for update
    )
    update webhook_service.deliveries d set
      lease_id = l.lease_id, request_headers = l.request_headers, format = l.format, request_body = l.request_body
    from lease l where d.id::text = l.id::text and ${isOneOf('d', 'array(select id from free)')}
    returning d.id`;

const LOAD_WEBHOOKS = statement('load_webhooks_of_attempts')`
    select w.id, ${DUE_WEBHOOK_COLUMNS} from webhook_service.webhooks w where w.id = any($1::uuid[])`;

type EventColumns = Pick<ClaimedDelivery, 'body' | 'subject' | 'traceparent' | 'audience'>;

/** The webhook columns are null when the webhook was deleted. */
type ClaimedRow = Omit<ClaimedDelivery, 'webhook' | keyof EventColumns> & DueWebhookColumns;

/** A delivery that a consumer has leased, with the columns of its webhook. */
export type LeasedDelivery = ClaimedDelivery & DueWebhookColumns & { attemptedAt: Date; leasedUntil: Date };

interface LeasedRequest {
  requestHeaders: HeaderMap;
  formatted: Formatted | null;
}

export interface DispatchedDelivery extends ClaimedDelivery {
  /** Time until the rate of its webhook permits another attempt; 0 if it does now, null without a rate. */
  nextPermitInMs: number | null;
}

/** Claims rows for this process and reads the data that their attempts require. A claimed row is attempted at once. */
@Injectable()
export class ClaimsRepository {
  /** Claims a pending row that is due within a second and neither deferred nor claimed; returns null when there is none. */
  readonly claim = sharedStatement<string, ClaimedDelivery>(
    (id) => id,
    async (ids) => {
      const rows = await this.statements.run<ClaimedRow>(CLAIM_QUEUED, [ids, ...idBounds(ids)]);
      return (await this.withEvents(rows)).map((row) => [row.id, row] as const);
    },
    { parallel: 2 },
  );

  /** Returns the current webhook of an attempt; null when it was deleted. */
  readonly webhook = sharedStatement<string, DueWebhook>(
    (id) => id,
    async (ids) => {
      const rows = await this.statements.run<DueWebhook & { id: string }>(LOAD_WEBHOOKS, [ids]);
      return rows.map(({ id, ...webhook }) => [id, webhook] as const);
    },
  );

  constructor(
    private readonly statements: StatementsService,
    private readonly outcomes: OutcomesRepository,
  ) {}

  /** Claims deferred rows, at most the granted number for each webhook, and no more than its rate permits. */
  async claimDeferred(wanted: readonly Grant[]): Promise<DispatchedDelivery[]> {
    const rows = await this.statements.run<ClaimedRow & Pick<DispatchedDelivery, 'nextPermitInMs'>>(CLAIM_DEFERRED, [
      wanted.map(({ userId }) => userId),
      wanted.map(({ webhookId }) => webhookId),
      wanted.map(({ count }) => count),
    ]);
    return this.withEvents(rows);
  }

  /**
   * Claims at most `limit` due rows of a pull webhook for a consumer, for `leaseSeconds`, in the order in which they are due. The
   * attempt has begun.
   */
  async claimWaiting(webhookId: string, limit: number, leaseSeconds: number): Promise<LeasedDelivery[]> {
    const rows = await this.statements.run<ClaimedRow & Pick<LeasedDelivery, 'attemptedAt' | 'leasedUntil'>>(
      CLAIM_WAITING,
      [webhookId, limit, leaseSeconds],
    );
    return this.withEvents(rows);
  }

  /** Stores the lease and the request in claimed rows. Returns the ids of the rows that are still claimed. */
  async hold(leases: readonly (LeaseKey & LeasedRequest)[]): Promise<Set<string>> {
    if (leases.length === 0) return new Set();
    const ids = leases.map(({ deliveryId }) => deliveryId);
    const values = leases.map(({ deliveryId, random, requestHeaders, formatted }) => ({
      id: deliveryId,
      lease_id: random,
      request_headers: requestHeaders,
      format: formatted?.format,
      request_body: formatted?.body,
    }));
    const rows = await this.statements.run<{ id: string }>(HOLD, [ids, ...idBounds(ids), JSON.stringify(values)]);
    return new Set(rows.map(({ id }) => id));
  }

  /** Extends the leases of rows with slow attempts, so that the sweeper does not take them. */
  async extendLeases(ids: readonly string[]): Promise<void> {
    await this.statements.run(EXTEND_LEASES, [ids, ...idBounds(ids)]);
  }

  /** Completes claimed rows. Cancels those whose event is gone: they would be claimed again and again. */
  private async withEvents<Row extends ClaimedRow>(rows: readonly Row[]): Promise<(Row & ClaimedDelivery)[]> {
    if (rows.length === 0) return [];
    const ids = [...new Set(rows.map(({ eventId }) => eventId))];
    const read = await this.statements.run<EventColumns & { id: string }>(READ_EVENTS, [ids, ...idBounds(ids)]);
    const events = new Map(read.map(({ id, ...event }) => [id, event]));
    const lost = rows.filter(({ eventId }) => !events.has(eventId)).map(({ id }) => id);
    if (lost.length > 0) await this.outcomes.cancelLost(lost);
    return rows.flatMap((row) => {
      const event = events.get(row.eventId);
      const webhook = row.url === null ? null : dueWebhookOf(row as DueWebhook);
      return event ? [Object.assign(row, event, { webhook })] : [];
    });
  }
}
