import { Injectable, type OnModuleInit } from '@nestjs/common';
import { WebhookLifecycleService } from '../webhooks/webhook-lifecycle.service';
import { RollUpService } from '../webhooks/stats/roll-up.service';
import { deliveryError } from './rows/delivery-error';
import { OutcomesRepository } from './rows/outcomes.repository';

@Injectable()
export class CancellationService implements OnModuleInit {
  constructor(
    private readonly lifecycle: WebhookLifecycleService,
    private readonly outcomes: OutcomesRepository,
    private readonly rollUp: RollUpService,
  ) {}

  onModuleInit(): void {
    this.lifecycle.whenStopped(async (manager, webhookId, reason) => {
      await this.outcomes.cancelPending(manager, webhookId, deliveryError(reason, { durationMs: 0, timeoutMs: 0 }));
      this.rollUp.note();
    });
  }
}
