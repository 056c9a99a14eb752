import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type SelectQueryBuilder } from 'typeorm';
import { ApiError } from '../errors/api-error';
import { MESSAGES } from '../errors/catalogue';
import { Event } from '../events/event.entity';
import { newestFirst } from '../pagination/newest-first.repository';
import type { Page } from '../pagination/page';
import { Delivery } from './delivery.entity';
import type { EventQueryDto } from './dto/event-query.dto';

const MAX_DELIVERIES = 250;

/** Whom an event is visible to: its user, its publisher, and owners of webhooks that it went to. */
const VISIBLE = `not e.is_test and (e.user_id = :userId or e.publisher_id = :userId or exists (
  select from webhook_service.deliveries d where d.user_id = :userId and d.event_id = e.id))`;

/** Reads events and what became of them, always as one user. */
@Injectable()
export class EventLogService {
  constructor(
    @InjectRepository(Event) private readonly events: Repository<Event>,
    @InjectRepository(Delivery) private readonly deliveries: Repository<Delivery>,
  ) {}

  async list(userId: string, { event, ...page }: EventQueryDto): Promise<Page<Event>> {
    const query = this.visibleTo(userId);
    if (event !== undefined) query.andWhere('e.name = :event', { event });
    return newestFirst(query, page, [userId, 'events', { event, since: page.since, until: page.until }]);
  }

  async read(userId: string, id: string): Promise<{ event: Event; deliveries: Delivery[] }> {
    const event = await this.visibleTo(userId).andWhere('e.id = :id', { id }).getOne();
    if (!event) throw new ApiError(404, MESSAGES.eventNotFound);
    const deliveries = await this.deliveries.find({
      where: { userId, eventId: id },
      order: { id: 'DESC' },
      take: MAX_DELIVERIES,
    });
    return { event, deliveries };
  }

  private visibleTo(userId: string): SelectQueryBuilder<Event> {
    return this.events.createQueryBuilder('e').where(VISIBLE, { userId });
  }
}
