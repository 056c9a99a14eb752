import { Injectable } from '@nestjs/common';
import { idBounds } from '../../plumbing/database/id-bounds';
import { type Statement, StatementsService } from '../../plumbing/database/statements.service';
import type { ClaimedDelivery, DueWebhook } from '../attempt';
import { JOB_LEASE } from '../lease';
import type { Admission } from '../slots/lane-turns';
import { isAmong, isOneOf, isPending } from '../found-by-id';

/** What a worker sets in a row that it claims, and reads of it. No row is claimed twice, unless its lease has expired between. */
const CLAIM = `update webhook_service.deliveries d set claimed = true, parked = false, leased_until = now() + ${JOB_LEASE}`;

/** A job may come early by this much. A job that comes earlier has a clock that is ahead. */
const SOON = `interval '1 second'`;

const COLUMNS = 'd.id, d.webhook_id, d.user_id, d.event_id, d.event, d.attempt, d.trigger, d.scheduled_at';
const READ = `
  select d.id, d.webhook_id as "webhookId", d.user_id as "userId", d.event_id as "eventId", d.event, d.attempt, d.trigger,
         ceil(extract(epoch from d.scheduled_at - now()) * 1000)::float8 as "dueInMs", e.body, e.traceparent,
         w.url, w.secret as "sealedSecret", w.active,
         case when w.previous_secret_expires_at > now() then w.previous_secret end as "sealedPreviousSecret"
  from claimed d
  cross join lateral (select body, traceparent from webhook_service.events where id = d.event_id limit 1) as e
  left join webhook_service.webhooks w on w.id = d.webhook_id`;

/** A row that is locked is being canceled, or its lease is taken. Nobody waits for that, because the others would wait too. */
const CLAIM_OFFERED: Statement = {
  name: 'claim_deliveries',
  text: `
    with free as (
      select id from webhook_service.deliveries
      where ${isOneOf('deliveries', '$1::uuid[]')} and ${isPending('deliveries')} and not claimed and not parked
        and scheduled_at <= now() + ${SOON}
      for update skip locked
    ), claimed as (
      ${CLAIM}
      where ${isAmong('d', 'free')}
      returning ${COLUMNS}
    ) ${READ}`,
};

/** The oldest first. Two workers never admit the same row. */
const ADMIT: Statement = {
  name: 'admit_deliveries',
  text: `
    with chosen as materialized (
      select first.id
      from unnest($1::text[], $2::uuid[], $3::int[]) as wanted (user_id, webhook_id, count)
      cross join lateral (
        select id from webhook_service.deliveries p
        -- An order by the last column of the index leaves PostgreSQL no other index.
        where p.user_id = wanted.user_id and p.webhook_id between wanted.webhook_id and wanted.webhook_id
          and p.status = 'pending' and p.parked
        order by p.webhook_id, p.id limit wanted.count for update skip locked
      ) as first
    ), claimed as (
      ${CLAIM}
      where ${isAmong('d', 'chosen')}
      returning ${COLUMNS}
    ) ${READ}`,
};

/** The columns of the webhook are null when it was deleted. */
type ClaimedRow = Omit<ClaimedDelivery, 'webhook'> & Omit<DueWebhook, 'url'> & { url: string | null };

/** Claims rows for this process, and reads what their attempts take. A claimed row is attempted at once. */
@Injectable()
export class ClaimsRepository {
  constructor(private readonly statements: StatementsService) {}

  /**
   * Claims pending rows that are due within a second, not parked, and claimed by nobody. Answers one entry for each id, in
   * order; null where there is no such row.
   */
  async claim(ids: readonly string[]): Promise<(ClaimedDelivery | null)[]> {
    const rows = await this.statements.run<ClaimedRow>(CLAIM_OFFERED, [ids, ...idBounds(ids)]);
    const byId = new Map(rows.map((row) => [row.id, toClaimed(row)]));
    return ids.map((id) => byId.get(id) ?? null);
  }

  /** Claims parked rows, at most as many of each webhook as wanted. */
  async admit(wanted: readonly Admission[]): Promise<ClaimedDelivery[]> {
    const rows = await this.statements.run<ClaimedRow>(ADMIT, [
      wanted.map(({ userId }) => userId),
      wanted.map(({ webhookId }) => webhookId),
      wanted.map(({ count }) => count),
    ]);
    return rows.map(toClaimed);
  }
}

function toClaimed({ url, active, sealedSecret, sealedPreviousSecret, ...row }: ClaimedRow): ClaimedDelivery {
  return { ...row, webhook: url === null ? null : { url, active, sealedSecret, sealedPreviousSecret } };
}
