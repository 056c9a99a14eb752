import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { Event, SUBJECTS_FROM } from '../../events/event.entity';
import { StatementsService } from '../../infrastructure/database/statements.service';
import { type CursorScope, idWindow, Page } from '../../infrastructure/pagination/page';
import { Delivery } from '../rows/delivery.entity';
import { lowestDeliveryId } from '../rows/found-by-id';
import type { EventQueryDto } from './dto/event.dto';
import { patternsSql } from '../../webhooks/event-pattern';

const MAX_DELIVERIES = 250;

/** Rows of the log of deliveries that a page looks at. An event has several, and only some may have the name. */
const maxLookedAt = (isNamed: boolean): number => (isNamed ? 10_000 : 1000);

/** The order names all columns of the index: otherwise PostgreSQL could search the events of all users in the order of ids. */
const eventsOf = (user: string, isNamed: boolean): string => `
  (select e.id from webhook_service.events e
   where ${isNamed ? `${user} = $1 and e.name between $4 and $4` : `${user} between $1 and $1 and $4::text is null`}
     and ($2::uuid is null or e.id >= $2) and ($3::uuid is null or e.id < $3) and not e.is_test
   order by ${isNamed ? 'e.name' : user} desc, e.id desc limit $5)`;

/**
 * An event is visible to its user, its publisher, and the owners of webhooks that it was sent to. Each case is a branch of its
 * own with an index that starts at the newest row; one condition for all would search the events of all users. When the last one
 * ends before the log does, so does the page. A redelivered event may already be past retention. It sorts last, because the
 * oldest days are dropped first.
 */
const newest = (isNamed: boolean): string => `
  with looked as materialized (
    select event_id, event, trigger from webhook_service.deliveries
    where user_id between $1 and $1 and ($2::uuid is null or event_id >= $2) and ($3::uuid is null or event_id < $3)
    order by user_id desc, event_id desc limit ${maxLookedAt(isNamed)}
  ), edge as (
    select case when count(*) = ${maxLookedAt(isNamed)} then min(event_id::text)::uuid end as id from looked
  ), found as (
    ${eventsOf('e.user_id', isNamed)}
    union
    ${eventsOf('nullif(e.publisher_id, e.user_id)', isNamed)}
    union
    (select distinct event_id from looked where ($4 is null or event = $4) and trigger <> 'test' order by event_id desc limit $5)
  )
  select array(
    select id from found where id >= coalesce((select id from edge), id) order by id desc limit $5
  ) as ids, (select id from edge) as edge`;

/** Events with a subject that a page looks at: 10,000 in three branches. Those for all users each look for a delivery, too. */
const MAX_LOOKED_AT_OF_USER = 4500;
const MAX_LOOKED_AT_OF_ALL = 1000;

const withSubject = (user: string, is: string, limit: string | number): string => `
    select e.id, e.name from webhook_service.events e
    where ${user} ${is} and e.subject between $4 and $4 and e.id >= ${SUBJECTS_FROM}
      and ($2::uuid is null or e.id >= $2) and ($3::uuid is null or e.id < $3) and not e.is_test
    order by ${user} desc, e.subject desc, e.id desc limit ${limit}`;

/** The last event of a branch when it may have more. */
const edgeOf = (branch: string, limit: string | number): string =>
  `(select case when count(*) = ${limit} then min(id::text)::uuid end from ${branch})`;

/**
 * Finds the events with the subject $4, of the name $6 unless it is null, at most $5. Looks at $7 of each branch, in the order of
 * an index. An event for all users is visible to those with a delivery of it. The page ends where a branch may have been cut.
 */
const WITH_SUBJECT = `
  with own as materialized (${withSubject('e.user_id', '= $1', '$7')}),
    published as materialized (${withSubject('nullif(e.publisher_id, e.user_id)', '= $1', '$7')}),
    shared as materialized (${withSubject('e.user_id', 'is null', MAX_LOOKED_AT_OF_ALL)}),
    edge as (
      select greatest(${edgeOf('own', '$7')}, ${edgeOf('published', '$7')}, ${edgeOf('shared', MAX_LOOKED_AT_OF_ALL)}) as id
    ), found as (
      select * from own union select * from published union
      select * from shared e where (
        -- A subquery for each row: a join would read the whole log.
        select d.id from webhook_service.deliveries d
        where d.user_id = $1 and d.event_id = e.id and d.id >= ${lowestDeliveryId('e.id')} limit 1) is not null
    )
  select array(
    select id from found where ($6::text is null or name = $6) and id >= coalesce((select id from edge), id)
    order by id desc limit $5
  ) as ids, (select id from edge) as edge`;

const VISIBLE = `not e.is_test and (e.user_id = :userId or e.publisher_id = :userId or exists (
  select from webhook_service.deliveries d where d.user_id = :userId and d.event_id = e.id))`;

/** An event for all users that an active webhook of the user subscribed to, but whose filter may have dropped it. */
const FILTERED = `not e.is_test and e.user_id is null and exists (
  select from webhook_service.webhooks w
  where w.user_id = :userId and w.filter is not null and greatest(w.created_at, w.subscribed_at) < e.accepted_at
    and w.events && (${patternsSql('e.name')})
    and not exists (
      select from webhook_service.webhook_pauses p
      where p.webhook_id = w.id and p.started_at <= e.accepted_at and coalesce(p.ended_at, 'infinity') > e.accepted_at))`;

/** Reads events and their deliveries. Users see only events that are visible to them. */
@Injectable()
export class EventLogService {
  constructor(
    @InjectRepository(Event) private readonly events: Repository<Event>,
    @InjectRepository(Delivery) private readonly deliveries: Repository<Delivery>,
    private readonly statements: StatementsService,
  ) {}

  async list(userId: string, { event, subject, ...page }: EventQueryDto): Promise<Page<Event>> {
    const scope: CursorScope = [userId, 'events', { event, subject, since: page.since, until: page.until }];
    const { from, before } = idWindow(page, scope);
    const isNamed = event !== undefined;
    const most = page.limit + 1;
    const [sql, ...values] =
      subject === undefined
        ? [newest(isNamed), userId, from, before, event ?? null, most]
        : [WITH_SUBJECT, userId, from, before, subject, most, event ?? null, isNamed ? MAX_LOOKED_AT_OF_USER : most];
    const [found] = await this.statements.runByIndex<{ ids: string[]; edge: string | null }>(sql, values);
    const rows = await this.events.find({ where: { id: In(found?.ids ?? []) }, order: { id: 'DESC' } });
    return Page.of(rows, page.limit, scope, found?.edge);
  }

  /** Returns an event and its newest 250 deliveries to the user's webhooks. */
  async read(userId: string, id: string): Promise<{ event: Event; deliveries: Delivery[] }> {
    const event = await this.find(id, VISIBLE, userId);
    const deliveries = await this.deliveries.find({
      where: { userId, eventId: id },
      order: { id: 'DESC' },
      take: MAX_DELIVERIES,
    });
    return { event, deliveries };
  }

  /** Returns an event for a comparison with a filter. */
  readForFilter(userId: string, id: string): Promise<Event> {
    return this.find(id, `(${VISIBLE} or ${FILTERED})`, userId);
  }

  private async find(id: string, condition: string, userId: string): Promise<Event> {
    const event = await this.events.createQueryBuilder('e').where(condition, { userId }).andWhere({ id }).getOne();
    if (!event) throw new ApiError('not_found', MESSAGES.eventNotFound);
    return event;
  }
}
