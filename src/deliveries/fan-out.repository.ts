import { Injectable } from '@nestjs/common';
import { idBounds } from '../database/id-bounds';
import { StatementsService } from '../database/statements.service';
import { patternsOf } from '../webhooks/event-pattern';

/** An event that still has to be fanned out. */
export interface OpenEvent {
  id: string;
  name: string;
}

/** A webhook that gets an event. */
export interface Subscriber {
  eventId: string;
  webhookId: string;
  userId: string;
  url: string;
}

const OPEN_EVENTS = {
  name: 'open_events',
  text: `
    select id, name from webhook_service.events
    where id = any($1::uuid[]) and id between $2 and $3 and fanned_out_at is null`,
};

const SUBSCRIBED = `w.active and w.events && string_to_array(p.patterns, ',') and w.created_at < e.accepted_at`;

/**
 * Who gets an event is judged here: webhooks that are active, subscribed, and were created before it. Those of one user are
 * found among his alone, however many others have subscribed to the same.
 */
const SUBSCRIBERS = {
  name: 'subscribers',
  text: `
    select e.id as "eventId", w.id as "webhookId", w.user_id as "userId", w.url
    from unnest($1::uuid[], $2::text[]) as p (id, patterns)
    join webhook_service.events e on e.id = p.id and e.id between $3 and $4
    cross join lateral (
      select w.id, w.user_id, w.url from webhook_service.webhooks w where w.user_id = e.user_id and ${SUBSCRIBED}
      union all
      select w.id, w.user_id, w.url from webhook_service.webhooks w where e.user_id is null and ${SUBSCRIBED}
    ) as w
    where (e.id, w.id) > ($5, $6)
    order by e.id, w.id
    limit $7`,
};

const MARK_FANNED_OUT = {
  name: 'mark_fanned_out',
  text: `
    update webhook_service.events set fanned_out_at = now()
    where id = any($1::uuid[]) and id between $2 and $3 and fanned_out_at is null`,
};

const NIL = '00000000-0000-0000-0000-000000000000';
const PAGE = 5000;

@Injectable()
export class FanOutRepository {
  constructor(private readonly statements: StatementsService) {}

  async openEvents(eventIds: readonly string[]): Promise<OpenEvent[]> {
    return this.statements.run(OPEN_EVENTS, [eventIds, ...idBounds(eventIds)]);
  }

  /** All subscribers of these events, page after page. */
  async *subscribers(events: readonly OpenEvent[]): AsyncGenerator<Subscriber[]> {
    const ids = events.map(({ id }) => id);
    const patterns = events.map(({ name }) => patternsOf(name).join(','));
    let page: Subscriber[];
    let after: [string, string] = [NIL, NIL];
    do {
      page = await this.statements.run<Subscriber & Record<string, unknown>>(SUBSCRIBERS, [
        ids,
        patterns,
        ...idBounds(ids),
        ...after,
        PAGE,
      ]);
      const last = page.at(-1);
      if (last) after = [last.eventId, last.webhookId];
      yield page;
    } while (page.length === PAGE);
  }

  async markFannedOut(eventIds: readonly string[]): Promise<void> {
    await this.statements.run(MARK_FANNED_OUT, [eventIds, ...idBounds(eventIds)]);
  }
}
