import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { WebhookPausesRepository } from './webhook-pauses.repository';

export type StopReason = 'webhook_disabled' | 'webhook_deleted';

type Listener = (manager: EntityManager, webhookId: string, reason: StopReason) => Promise<void>;

/**
 * What must happen, in the same transaction, when a webhook is disabled, activated or deleted. Rooms above this one say
 * here what that is for them.
 */
@Injectable()
export class WebhookStopsService {
  private readonly listeners: Listener[] = [];

  constructor(private readonly pauses: WebhookPausesRepository) {}

  onStop(listener: Listener): void {
    this.listeners.push(listener);
  }

  async disabled(manager: EntityManager, webhookId: string): Promise<void> {
    await this.pauses.begin(manager, webhookId);
    await this.tell(manager, webhookId, 'webhook_disabled');
  }

  /** An attempt that failed while the webhook was being disabled may have left a next one: it must not be revived. */
  async activated(manager: EntityManager, webhookId: string): Promise<void> {
    await this.pauses.end(manager, webhookId);
    await this.tell(manager, webhookId, 'webhook_disabled');
  }

  async deleted(manager: EntityManager, webhookId: string): Promise<void> {
    await this.tell(manager, webhookId, 'webhook_deleted');
  }

  private async tell(manager: EntityManager, webhookId: string, reason: StopReason): Promise<void> {
    for (const listener of this.listeners) await listener(manager, webhookId, reason);
  }
}
