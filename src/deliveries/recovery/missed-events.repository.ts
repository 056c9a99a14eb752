import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DAY_MS } from '../../infrastructure/config/durations';
import { lowestIdOf, timeOfId } from '../../infrastructure/database/id-time';
import { BY_INDEX_ONLY, StatementsService } from '../../infrastructure/database/statements.service';
import type { ErrorCode } from '../rows/delivery-error';
import { aboutSql, isNotAbout, patternsSql } from '../../webhooks/event-pattern';
import { hasNonePending, lowestDeliveryId } from '../rows/found-by-id';
import { RetentionCutoffService } from '../rows/retention-cutoff.service';

/** A time window of events for one webhook, bounded by event ids. */
export interface EventWindow {
  webhookId: string;
  userId: string;
  firstId: string;
  /** The first id after the window. */
  untilId: string;
  event: string | null;
  /** Only events whose newest delivery has this error; null for all missed events. */
  error: ErrorCode | null;
}

export interface MissedPage {
  /** Ids of the missed events, oldest first. */
  missed: string[];
  looked: number;
  /** Id of the event to go on after; null at the end of the window. */
  edge: string | null;
}

/** Tolerance for the order of a fan-out and an activation at the same moment, which are two transactions. */
const SLACK = `interval '5 seconds'`;
/** Events that a page looks at, of all names and both audiences together, and at least of each of them. */
const PAGE = 1000;
const PAGE_OF_NAME = 5;

type Direction = 'asc' | 'desc';

/** The next events of one name, or of all, for one audience: read in the order of an index, which begins with the user. */
const nextOf = (where: string, direction: Direction): string => `
      select id, name, is_test, accepted_at, fanned_out_at, ${aboutSql('name', 'body')} as about
      from webhook_service.events where ${where} and id >= $3 and id > $7 and id < $4
      order by user_id ${direction}, id ${direction} limit $8`;

/**
 * $1 webhook, $2 owner, $3 first id, $4 id after the window, $5 names or null for all, $6 error, $7 id to continue after, $8
 * limit of each name and audience. When one of these has more events, the page ends where the first of them was cut.
 */
const looked = (direction: Direction): string => {
  const branches = ['user_id = $2', 'user_id is null'].flatMap((audience) => [
    `select concat($2::text, n.name) as branch, e.* from unnest($5::text[]) as n (name) cross join lateral (
      ${nextOf(`${audience} and name = n.name`, direction)}) as e`,
    `select null, e.* from (${nextOf(`$5::text[] is null and ${audience}`, direction)}) as e`,
  ]);
  const [first, last] = direction === 'asc' ? ['min', 'max'] : ['max', 'min'];
  return `
  with looked as materialized (
    ${branches.map((branch, i) => `select ${i} as audience, b.* from (${branch}) as b`).join(' union all ')}
  ), edge as (
    select ${first}(last) as id from (
      select ${last}(id::text collate "C") as last from looked group by audience, branch having count(*) = $8) as cut
  ), candidate as (
    select w.id as webhook_id, e.id, e.accepted_at, e.fanned_out_at,
           ${lowestDeliveryId('e.id')} as first_delivery_id
    from webhook_service.webhooks w cross join looked e cross join edge
    where w.id = $1 and not e.is_test and e.accepted_at > w.created_at
      and (edge.id is null or e.id::text collate "C" ${direction === 'asc' ? '<=' : '>='} edge.id)
      and ${isNotAbout('e.about')} and w.events && (${patternsSql('e.name')})
  )`;
};

/**
 * An event is missed when its newest delivery failed permanently, or was canceled because the webhook was disabled or had too many
 * pending deliveries, or when it has no delivery because the webhook was inactive at its fan-out. A pending delivery may still
 * arrive: its event is not missed. A delivery is never older than its event, so the bound lets PostgreSQL skip partitions.
 */
const MISSED = `
  ${hasNonePending('c.webhook_id', 'c.id')}
  and ($6::text is null or newest.error_code = $6)
  and (newest.status = 'failed' or newest.error_code in ('webhook_disabled', 'backlog_full')
    or newest.status is null and exists (
      select from webhook_service.webhook_pauses p
      where p.webhook_id = c.webhook_id and p.started_at <= c.fanned_out_at
        and coalesce(p.ended_at + ${SLACK}, 'infinity') >= c.accepted_at))`;

const NEWEST = `
  left join lateral (
    select d.status, d.error_code from webhook_service.deliveries d
    where d.user_id = $2 and d.event_id = c.id and d.webhook_id = c.webhook_id and d.id >= c.first_delivery_id
    order by d.id desc limit 1
  ) as newest on true`;

const pageOf = (direction: Direction): string => `
  ${looked(direction)}
  select array(select c.id from candidate c ${NEWEST} where ${MISSED} order by c.id) as missed,
         (select count(*)::int from looked) as looked, (select id from edge) as edge`;
const NEXT = pageOf('asc');
const PREVIOUS = pageOf('desc');

/** The next name after another one, of one audience. $3 and $4 are bounds of days, so that no other event is read. */
const nameOf = (audience: string, after = ''): string => `
      select name from webhook_service.events where ${audience} ${after} and id >= $3 and id < $4
      order by user_id, name limit 1`;
const namesOf = (audience: string): string => `
    (${nameOf(audience)})
    union all
    select (${nameOf(audience, 'and name > known.name')}) from known where known.name is not null`;

/** The names of the events of some days that match patterns. Reads one event of each name. */
const NAMES = `
  with recursive own as (${namesOf('user_id = $1').replaceAll('known', 'own')}),
    shared as (${namesOf('user_id is null').replaceAll('known', 'shared')})
  select name from (select name from own union select name from shared) as n
  where name is not null and $2::text[] && (${patternsSql('name')})`;

const NIL = '00000000-0000-0000-0000-000000000000';

/** Finds the events that a webhook has missed, in pages: each looks at a limited number of events. */
@Injectable()
export class MissedEventsRepository {
  constructor(
    private readonly statements: StatementsService,
    private readonly cutoff: RetentionCutoffService,
  ) {}

  /**
   * Returns the names of the events of a window that a webhook with these patterns may have missed; null for all names. Events of
   * other names are not read.
   */
  async names(
    { userId, firstId, untilId, event }: EventWindow,
    patterns: readonly string[],
    manager?: EntityManager,
  ): Promise<string[] | null> {
    if (event !== null) return [event];
    if (patterns.includes('*')) return null;
    const [exact, others] = [false, true].map((is) => patterns.filter((pattern) => pattern.endsWith('.*') === is));
    if (!others?.length) return exact ?? [];
    const values = [userId, others, dayIdOf(firstId, 0), dayIdOf(untilId, 1)];
    const found = await this.run<{ name: string }>(NAMES, values, manager);
    return [...new Set([...(exact ?? []), ...found.map(({ name }) => name)])];
  }

  /** Returns the next page after an event. Within retention only. */
  async next(manager: EntityManager, window: EventWindow, names: string[] | null, after: string): Promise<MissedPage> {
    const [page] = await this.run<MissedPage>(NEXT, this.values(window, names, after), manager);
    return page as MissedPage;
  }

  /** Returns the newest page of a window. The next one ends at its edge. */
  async newest(window: EventWindow, names: string[] | null): Promise<MissedPage> {
    const [page] = await this.run<MissedPage>(PREVIOUS, this.values(window, names, NIL));
    return page as MissedPage;
  }

  private async run<Row>(text: string, values: unknown[], manager?: EntityManager): Promise<Row[]> {
    if (!manager) return this.statements.runByIndex<Row>(text, values);
    await manager.query(BY_INDEX_ONLY);
    return manager.query<Row[]>(text, values);
  }

  private values({ webhookId, userId, firstId, untilId, error }: EventWindow, names: string[] | null, after: string) {
    const firstKeptId = this.cutoff.firstKeptId();
    const limit = Math.max(PAGE_OF_NAME, Math.ceil(PAGE / (2 * (names?.length || 1))));
    const first = firstId > firstKeptId ? firstId : firstKeptId;
    return [webhookId, userId, first, untilId, names, error, after, limit];
  }
}

/** Returns the lowest id of the day of an id, or of a later day. */
const dayIdOf = (id: string, daysLater: number): string =>
  lowestIdOf((Math.floor(timeOfId(id).getTime() / DAY_MS) + daysLater) * DAY_MS);
