import { Injectable, type OnModuleInit } from '@nestjs/common';
import { WebhookLifecycleService } from '../../webhooks/webhook-lifecycle.service';
import { RecoveriesRepository } from './recoveries.repository';

/** Ends the recovery of a webhook that is disabled or deleted. */
@Injectable()
export class RecoveryEndService implements OnModuleInit {
  constructor(
    private readonly lifecycle: WebhookLifecycleService,
    private readonly recoveries: RecoveriesRepository,
  ) {}

  onModuleInit(): void {
    this.lifecycle.whenStopped((manager, webhookId) => this.recoveries.end(manager, webhookId));
  }
}
