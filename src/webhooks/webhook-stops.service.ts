import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

export type StopReason = 'webhook_disabled' | 'webhook_deleted';

type Listener = (manager: EntityManager, webhookId: string, reason: StopReason) => Promise<void>;

/** Where rooms above this one say what must happen, in the same transaction, when a webhook is disabled or deleted. */
@Injectable()
export class WebhookStopsService {
  private readonly listeners: Listener[] = [];

  onStop(listener: Listener): void {
    this.listeners.push(listener);
  }

  async stopped(manager: EntityManager, webhookId: string, reason: StopReason): Promise<void> {
    for (const listener of this.listeners) await listener(manager, webhookId, reason);
  }
}
