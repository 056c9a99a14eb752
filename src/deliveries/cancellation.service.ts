import { Injectable, type OnModuleInit } from '@nestjs/common';
import { WebhookLifecycleService } from '../webhooks/webhook-lifecycle.service';
import { RollUpService } from '../webhooks/stats/roll-up.service';
import { DeliveriesRepository } from './deliveries.repository';
import { deliveryError } from './delivery-error';

/** Cancels the pending deliveries of a webhook that is disabled or deleted. */
@Injectable()
export class CancellationService implements OnModuleInit {
  constructor(
    private readonly lifecycle: WebhookLifecycleService,
    private readonly deliveries: DeliveriesRepository,
    private readonly rollUp: RollUpService,
  ) {}

  onModuleInit(): void {
    this.lifecycle.whenStopped(async (manager, webhookId, reason) => {
      await this.deliveries.cancelPending(manager, webhookId, deliveryError(reason, { durationMs: 0, timeoutMs: 0 }));
      this.rollUp.note();
    });
  }
}
