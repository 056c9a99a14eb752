import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { WebhookLifecycleService } from '../../webhooks/webhook-lifecycle.service';

/** URLs of test receivers. The id is the only part that tells them apart: the port changes with a setting. */
const DISABLE = `
  update webhook_service.webhooks
  set active = false, disabled_reason = 'receiver_gone', disabled_at = now(), updated_at = now()
  where active and url ~ '^http://(127[.][0-9.]+|\\[::1\\])(:[0-9]+)?/try/[0-9a-f]{32}$' and right(url, 32) <> all($1::text[])
  returning id`;

/** Disables webhooks whose test receivers no longer exist. */
@Injectable()
export class GoneReceiversService {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly lifecycle: WebhookLifecycleService,
  ) {}

  /** Disables webhooks of all test receivers but these, and cancels their pending deliveries. */
  async disableAllBut(receiverIds: readonly string[]): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      const [webhooks] = await manager.query<[{ id: string }[], number]>(DISABLE, [receiverIds]);
      for (const { id } of webhooks) await this.lifecycle.disabled(manager, id);
    });
  }
}
