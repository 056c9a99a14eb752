import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { Event } from '../../events/event.entity';
import { type CursorScope, idWindow, Page } from '../../infrastructure/pagination/page';
import { Delivery } from '../rows/delivery.entity';
import type { EventQueryDto } from './dto/event.dto';
import { patternsSql } from '../../webhooks/event-pattern';

const MAX_DELIVERIES = 250;

const IN_WINDOW = `
  ($2::uuid is null or e.id >= $2) and ($3::uuid is null or e.id < $3) and ($4::text is null or e.name = $4) and not e.is_test`;

/**
 * An event is visible to its user, its publisher, and the owners of webhooks that it was sent to. Each case is a branch of its
 * own with an index that starts at the newest row; one condition for all would search the events of all users. A redelivered
 * event may already be past retention. It sorts last, because the oldest days are dropped first.
 */
const NEWEST = `
  (select e.id from webhook_service.events e
   where e.user_id = $1 and ${IN_WINDOW} order by e.id desc limit $5)
  union
  (select e.id from webhook_service.events e
   where nullif(e.publisher_id, e.user_id) = $1 and ${IN_WINDOW} order by e.id desc limit $5)
  union
  (select distinct d.event_id from webhook_service.deliveries d
   where d.user_id = $1 and ($2::uuid is null or d.event_id >= $2) and ($3::uuid is null or d.event_id < $3)
     and ($4::text is null or d.event = $4) and d.trigger <> 'test' order by d.event_id desc limit $5)
  order by id desc limit $5`;

const VISIBLE = `not e.is_test and (e.user_id = :userId or e.publisher_id = :userId or exists (
  select from webhook_service.deliveries d where d.user_id = :userId and d.event_id = e.id))`;

/** An event for all users that a webhook of the user subscribes to, but whose filter may have dropped it. */
const FILTERED = `not e.is_test and e.user_id is null and exists (
  select from webhook_service.webhooks w
  where w.user_id = :userId and w.filter is not null and w.created_at < e.accepted_at
    and w.events && (${patternsSql('e.name')}))`;

/** Reads events and their deliveries. Users see only events that are visible to them. */
@Injectable()
export class EventLogService {
  constructor(
    @InjectRepository(Event) private readonly events: Repository<Event>,
    @InjectRepository(Delivery) private readonly deliveries: Repository<Delivery>,
  ) {}

  async list(userId: string, { event, ...page }: EventQueryDto): Promise<Page<Event>> {
    const scope: CursorScope = [userId, 'events', { event, since: page.since, until: page.until }];
    const { from, before } = idWindow(page, scope);
    const found = await this.events.query<{ id: string }[]>(NEWEST, [
      userId,
      from,
      before,
      event ?? null,
      page.limit + 1,
    ]);
    const rows = await this.events.find({ where: { id: In(found.map(({ id }) => id)) }, order: { id: 'DESC' } });
    return Page.of(rows, page.limit, scope);
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
