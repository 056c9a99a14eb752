import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config } from '../../plumbing/config/config';
import type { Webhook } from '../../webhooks/webhook.entity';

/** What a test takes beyond the delivery deadline: reading the body and writing the outcome. */
const SLACK_MS = 5000;

const TEST_IN_FLIGHT = `
  select 1 from webhook_service.deliveries
  where webhook_id = $1 and status = 'pending' and trigger = 'test' and attended_until > now()`;

/** A test's event is there to be sent and shown, and is fanned out to nobody. */
const INSERT_TEST_EVENT = `
  insert into webhook_service.events (id, name, user_id, body, is_test, fanned_out_at)
  values ($1, $2, $3, $4, true, now())`;

const INSERT_TEST_DELIVERY = `
  insert into webhook_service.deliveries
    (id, webhook_id, user_id, event_id, event, url, attempt, trigger, status, scheduled_at, attended_until)
  values ($1, $2, $3, $4, $5, $6, 1, 'test', 'pending', now(), now() + $7 * interval '1 millisecond')`;

/** The event and the delivery of a test about to be sent. */
export interface NewTest {
  eventId: string;
  deliveryId: string;
  event: string;
  body: string;
}

@Injectable()
export class WebhookTestsRepository {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly config: Config,
  ) {}

  /** Inserts the rows of a test. False when another test of this webhook is still running. */
  async insert({ id, userId, url }: Webhook, test: NewTest): Promise<boolean> {
    const attendedMs = this.config.deliveryTimeoutMs + SLACK_MS;
    return this.dataSource.transaction(async (manager) => {
      await manager.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`test of ${id}`]);
      const running = await manager.query<unknown[]>(TEST_IN_FLIGHT, [id]);
      if (running.length > 0) return false;
      const { eventId, deliveryId, event, body } = test;
      await manager.query(INSERT_TEST_EVENT, [eventId, event, userId, body]);
      await manager.query(INSERT_TEST_DELIVERY, [deliveryId, id, userId, eventId, event, url, attendedMs]);
      return true;
    });
  }
}
