import { Injectable } from '@nestjs/common';
import { idBounds } from '../../plumbing/database/id-bounds';
import { StatementsService } from '../../plumbing/database/statements.service';
import { patternsSql } from '../../webhooks/event-pattern';
import { JOB_LEASE, PARKED_LEASE } from '../lease';

/** A webhook that gets an event. */
export interface Subscriber {
  eventId: string;
  event: string;
  webhookId: string;
  /** The owner of the webhook. */
  userId: string;
  url: string;
}

const SUBSCRIBED = `w.active and w.events && e.patterns and w.created_at < e.accepted_at`;

/**
 * The webhooks that get an event: they are active, subscribed, and were created before it. For an event of one user
 * only that user's webhooks are searched, however many others have subscribed to the same event.
 */
const SUBSCRIBERS = {
  name: 'subscribers',
  text: `
    with e as materialized (
      select id, name, user_id, accepted_at, ${patternsSql('name')} as patterns
      from webhook_service.events
      where id = any($1::uuid[]) and id between $2 and $3 and fanned_out_at is null
    )
    select e.id as "eventId", e.name as event, w.id as "webhookId", w.user_id as "userId", w.url
    from e cross join lateral (
      select w.id, w.user_id, w.url from webhook_service.webhooks w where w.user_id = e.user_id and ${SUBSCRIBED}
      union all
      select w.id, w.user_id, w.url from webhook_service.webhooks w where e.user_id is null and ${SUBSCRIBED}
    ) as w
    where (e.id, w.id) > ($4, $5)
    order by e.id, w.id
    limit $6`,
};

/**
 * Does not wait until the commit is on the disk. If PostgreSQL crashes before that, the events are fanned out again,
 * into the same rows. A later commit that waits for the disk, such as an outcome's, brings this one to the disk too.
 */
const INSERT_DELIVERIES = {
  name: 'insert_first_deliveries',
  text: `
    with complete as (
      update webhook_service.events set fanned_out_at = now()
      where id = any($8::uuid[]) and id between $9 and $10 and fanned_out_at is null
        and (select set_config('synchronous_commit', 'off', true)) = 'off'
      returning id
    )
    insert into webhook_service.deliveries
      (id, webhook_id, user_id, event_id, event, url, parked, attempt, trigger, status, scheduled_at, leased_until)
    select d.*, 1, 'event', 'pending', now(), now() + case when d.parked then ${PARKED_LEASE} else ${JOB_LEASE} end
    from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::boolean[])
      as d (id, webhook_id, user_id, event_id, event, url, parked)
    where cardinality($8::uuid[]) = 0 or d.event_id in (select id from complete)
    on conflict (id) do nothing
    returning id`,
};

const NIL = '00000000-0000-0000-0000-000000000000';
const PAGE = 5000;

/** The first delivery of an event to a webhook, about to be inserted. */
interface FirstDelivery extends Subscriber {
  id: string;
  /** True: it waits in its row for a slot, and there is no job for it. */
  parked: boolean;
}

/** The statements of the fan-out. */
@Injectable()
export class FanOutRepository {
  constructor(private readonly statements: StatementsService) {}

  /** The subscribers of the events that are not fanned out yet, in pages. The last page may be empty. */
  async *subscribers(eventIds: readonly string[]): AsyncGenerator<{ page: Subscriber[]; isLast: boolean }> {
    const bounds = idBounds(eventIds);
    let page: Subscriber[];
    let after: [string, string] = [NIL, NIL];
    do {
      page = await this.statements.run<Subscriber & Record<string, unknown>>(SUBSCRIBERS, [
        eventIds,
        ...bounds,
        ...after,
        PAGE,
      ]);
      const last = page.at(-1);
      if (last) after = [last.eventId, last.webhookId];
      yield { page, isLast: page.length < PAGE };
    } while (page.length === PAGE);
  }

  /**
   * Inserts the rows that do not exist yet, and returns their ids.
   * @param complete events whose deliveries are all among these and those inserted before. They are marked as fanned
   *   out in the same commit. When another process has already marked one, it has inserted the rows too, and nothing is
   *   inserted for that event here.
   */
  async insert(rows: readonly FirstDelivery[], complete: readonly string[]): Promise<Set<string>> {
    const inserted = await this.statements.run<{ id: string }>(INSERT_DELIVERIES, [
      rows.map(({ id }) => id),
      rows.map(({ webhookId }) => webhookId),
      rows.map(({ userId }) => userId),
      rows.map(({ eventId }) => eventId),
      rows.map(({ event }) => event),
      rows.map(({ url }) => url),
      rows.map(({ parked }) => parked),
      complete,
      ...idBounds(complete.length > 0 ? complete : [NIL]),
    ]);
    return new Set(inserted.map(({ id }) => id));
  }
}
