import { Injectable, type OnModuleInit } from '@nestjs/common';
import { WebhookStopsService } from '../webhooks/webhook-stops.service';
import { DeliveriesRepository } from './deliveries.repository';
import { deliveryError } from './failure';
import { RecoveriesRepository } from './recoveries.repository';

/** Cancels what is pending for a webhook, and ends its recovery, when it is disabled or deleted. */
@Injectable()
export class DeliveryStopsService implements OnModuleInit {
  constructor(
    private readonly stops: WebhookStopsService,
    private readonly deliveries: DeliveriesRepository,
    private readonly recoveries: RecoveriesRepository,
  ) {}

  onModuleInit(): void {
    this.stops.onStop(async (manager, webhookId, reason) => {
      await this.recoveries.end(manager, webhookId);
      await this.deliveries.cancelPending(manager, webhookId, deliveryError(reason, { durationMs: 0, timeoutMs: 0 }));
    });
  }
}
