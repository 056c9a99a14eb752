import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Webhook } from './webhook.entity';

/** Counts the events in a row that ran out of retries. */
@Injectable()
export class WebhookHealthService {
  constructor(@InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>) {}

  async succeeded(webhookId: string): Promise<void> {
    await this.webhooks.update({ id: webhookId }, { consecutiveFailures: 0, healthyAt: () => 'now()' });
  }

  async ranOutOfRetries(webhookId: string): Promise<void> {
    await this.webhooks.increment({ id: webhookId }, 'consecutiveFailures', 1);
  }
}
