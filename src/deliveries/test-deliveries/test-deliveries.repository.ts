import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { eventBody } from 'webhook-notification';
import { ClockService } from '../../infrastructure/database/clock.service';
import type { Webhook } from '../../webhooks/webhook.entity';
import type { ClaimedDelivery } from '../attempt';
import { ClaimsRepository } from '../sending/claims.repository';
import { JOB_LEASE } from '../lease';

const TEST_IN_FLIGHT = `
  select 1 from webhook_service.deliveries
  where webhook_id = $1 and status = 'pending' and trigger = 'test' and leased_until > now()`;

/** The event of a test can be sent and shown, but is never fanned out. */
const INSERT_TEST_EVENT = `
  insert into webhook_service.events (id, name, user_id, body, is_test, fanned_out_at)
  values ($1, $2, $3, $4, true, now())`;

const INSERT_TEST_DELIVERY = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, leased_until)
  values ($1, $2, $3, $4, $5, $6, 1, 'test', 'pending', now(), now() + ${JOB_LEASE})`;

@Injectable()
export class TestDeliveriesRepository {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly clock: ClockService,
    private readonly claims: ClaimsRepository,
  ) {}

  /**
   * Inserts the event and the delivery of a test, and returns the delivery, claimed for this process. Returns null when another
   * test of this webhook is still running.
   */
  async insert({ id, userId, url }: Webhook, event: string, data: object): Promise<ClaimedDelivery | null> {
    const { id: eventId, at } = this.clock.newId();
    const { id: deliveryId } = this.clock.newId();
    const body = eventBody(eventId, event, at, JSON.stringify(data));
    const isInserted = await this.dataSource.transaction(async (manager) => {
      await manager.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`test of ${id}`]);
      const running = await manager.query<unknown[]>(TEST_IN_FLIGHT, [id]);
      if (running.length > 0) return false;
      await manager.query(INSERT_TEST_EVENT, [eventId, event, userId, body]);
      await manager.query(INSERT_TEST_DELIVERY, [deliveryId, id, userId, eventId, event, url]);
      return true;
    });
    if (!isInserted) return null;
    return this.claims.claim(deliveryId);
  }
}
