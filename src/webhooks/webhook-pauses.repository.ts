import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

const BEGIN = 'insert into webhook_service.webhook_pauses (webhook_id) values ($1)';
const END = `
  update webhook_service.webhook_pauses set ended_at = clock_timestamp() where webhook_id = $1 and ended_at is null`;

/** Remembers when a webhook was inactive, in the transaction that makes it so. */
@Injectable()
export class WebhookPausesRepository {
  async begin(manager: EntityManager, webhookId: string): Promise<void> {
    await manager.query(BEGIN, [webhookId]);
  }

  async end(manager: EntityManager, webhookId: string): Promise<void> {
    await manager.query(END, [webhookId]);
  }
}
