import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { KeyedMutex } from '../../infrastructure/concurrency/keyed-mutex';
import { ApiError } from '../../infrastructure/errors/api-error';
import { MESSAGES } from '../../infrastructure/errors/messages';
import { Event } from '../../events/event.entity';
import type { CursorScope } from '../../infrastructure/pagination/cursor';
import { idWindow } from '../../infrastructure/pagination/id-window';
import { Page } from '../../infrastructure/pagination/page';
import { WebhooksService } from '../../webhooks/webhooks.service';
import { Delivery } from '../delivery.entity';
import type { ListedDelivery } from '../listed-columns';
import { requireStateAlone } from './delivery-filters';
import { DeliveryPagesRepository } from './delivery-pages.repository';
import type { DeliveryCountDto, DeliveryCountQueryDto, DeliveryQueryDto } from './dto/delivery-query.dto';

/** A delivery and its request body. */
export interface LoggedDelivery {
  delivery: Delivery;
  body: string;
}

/** Reads the delivery log, newest first. Users see only deliveries to their own webhooks. */
@Injectable()
export class DeliveryLogService {
  private readonly counts = new KeyedMutex(1);

  constructor(
    @InjectRepository(Delivery) private readonly deliveries: Repository<Delivery>,
    @InjectRepository(Event) private readonly events: Repository<Event>,
    private readonly webhooks: WebhooksService,
    private readonly pages: DeliveryPagesRepository,
  ) {}

  /**
   * Returns the deliveries to one webhook.
   * @throws ApiError 404 when the user has no such webhook, 400 for a bad cursor
   */
  async list(userId: string, webhookId: string, query: DeliveryQueryDto): Promise<Page<ListedDelivery>> {
    await this.webhooks.read(userId, { id: webhookId });
    return this.page(userId, `deliveries of ${webhookId}`, { ...query, webhookId });
  }

  /**
   * Returns the deliveries to all webhooks of the user, including deleted ones.
   * @throws ApiError 400 for a bad cursor
   */
  async listAll(userId: string, query: DeliveryQueryDto): Promise<Page<ListedDelivery>> {
    return this.page(userId, 'deliveries', query);
  }

  /**
   * Counts the deliveries to all webhooks of the user; one count of a user at a time, because it reads up to 10,000 rows.
   * @throws ApiError 400 for filters that exclude each other
   */
  async count(userId: string, query: DeliveryCountQueryDto): Promise<DeliveryCountDto> {
    const { since, until, ...filters } = query;
    requireStateAlone(filters);
    const end = await this.counts.acquire(userId);
    try {
      return await this.pages.count(userId, filters, idWindow({ since, until }, [userId, 'count', {}]));
    } finally {
      end();
    }
  }

  /**
   * Returns a delivery with the body of its event, which is empty when the event has been dropped.
   * @throws ApiError 404 when the user has no such webhook, or the webhook has no such delivery
   */
  async read(userId: string, webhookId: string, id: string): Promise<LoggedDelivery> {
    await this.webhooks.read(userId, { id: webhookId });
    return this.readKept(userId, webhookId, id);
  }

  /**
   * Returns the same, even after the webhook was deleted.
   * @throws ApiError 404
   */
  async readKept(userId: string, webhookId: string, id: string): Promise<LoggedDelivery> {
    return this.withBody(await this.deliveries.findOneBy({ id, userId, webhookId }), MESSAGES.deliveryNotFound);
  }

  /**
   * Returns a delivery to any webhook of the user, including deleted ones.
   * @throws ApiError 404
   */
  async readOwn(userId: string, id: string): Promise<LoggedDelivery> {
    return this.withBody(await this.deliveries.findOneBy({ id, userId }), MESSAGES.noDelivery);
  }

  private async withBody(delivery: Delivery | null, absent: string): Promise<LoggedDelivery> {
    if (!delivery) throw new ApiError('not_found', absent);
    const event = await this.events.findOneBy({ id: delivery.eventId });
    return { delivery, body: event?.body ?? '' };
  }

  private async page(
    userId: string,
    list: string,
    { limit, cursor, since, until, ...filters }: DeliveryQueryDto & { webhookId?: string },
  ): Promise<Page<ListedDelivery>> {
    const scope: CursorScope = [userId, list, { ...filters, since, until }];
    const window = idWindow({ limit, cursor, since, until }, scope);
    const { rows, lookedUpTo } = await this.pages.find(userId, filters, window, limit + 1);
    return Page.of(rows, limit, scope, lookedUpTo);
  }
}
