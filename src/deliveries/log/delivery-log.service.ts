import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';
import { Event } from '../../events/event.entity';
import { newestFirst } from '../../plumbing/pagination/newest-first.query';
import type { Page } from '../../plumbing/pagination/page';
import { WebhooksService } from '../../webhooks/webhooks.service';
import { Delivery } from '../delivery.entity';
import type { DeliveryQueryDto } from './dto/delivery-query.dto';

/** A delivery and the body that it sends. */
export interface LoggedDelivery {
  delivery: Delivery;
  body: string;
}

/** Reads the delivery log, newest first. A user sees only the deliveries to that user's own webhooks. */
@Injectable()
export class DeliveryLogService {
  constructor(
    @InjectRepository(Delivery) private readonly deliveries: Repository<Delivery>,
    @InjectRepository(Event) private readonly events: Repository<Event>,
    private readonly webhooks: WebhooksService,
  ) {}

  /**
   * The deliveries to one webhook.
   * @throws ApiError 404 when the user has no such webhook, 400 for a bad cursor
   */
  async list(userId: string, webhookId: string, query: DeliveryQueryDto): Promise<Page<Delivery>> {
    await this.webhooks.read(userId, webhookId);
    return this.page({ userId, webhookId }, `deliveries of ${webhookId}`, query);
  }

  /**
   * The deliveries to all webhooks of the user, deleted ones included.
   * @throws ApiError 400 for a bad cursor
   */
  async listAll(userId: string, query: DeliveryQueryDto): Promise<Page<Delivery>> {
    return this.page({ userId }, 'deliveries', query);
  }

  /**
   * A delivery with the body of its event, which is empty when the event has been dropped.
   * @throws ApiError 404 when the user has no such webhook, or the webhook no such delivery
   */
  async read(userId: string, webhookId: string, id: string): Promise<LoggedDelivery> {
    await this.webhooks.read(userId, webhookId);
    return this.readKept(userId, webhookId, id);
  }

  /**
   * The same, also when the webhook is deleted.
   * @throws ApiError 404
   */
  async readKept(userId: string, webhookId: string, id: string): Promise<LoggedDelivery> {
    return this.withBody(await this.deliveries.findOneBy({ id, userId, webhookId }), MESSAGES.deliveryNotFound);
  }

  /**
   * A delivery to any webhook of the user, deleted ones included.
   * @throws ApiError 404
   */
  async readOwn(userId: string, id: string): Promise<LoggedDelivery> {
    return this.withBody(await this.deliveries.findOneBy({ id, userId }), MESSAGES.noDelivery);
  }

  private async withBody(delivery: Delivery | null, absent: string): Promise<LoggedDelivery> {
    if (!delivery) throw new ApiError(404, absent);
    const event = await this.events.findOneBy({ id: delivery.eventId });
    return { delivery, body: event?.body ?? '' };
  }

  private page(
    scope: { userId: string; webhookId?: string },
    list: string,
    { limit, cursor, since, until, ...equal }: DeliveryQueryDto,
  ): Promise<Page<Delivery>> {
    const rows = this.deliveries.createQueryBuilder('d').where({ ...scope, ...defined(equal) });
    const page = { limit, cursor, since, until };
    return newestFirst(rows, page, [scope.userId, list, { ...equal, since, until }]);
  }
}

function defined<T extends object>(filters: T): Partial<T> {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as Partial<T>;
}
