import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { logFirst, Repeat } from '../infrastructure/concurrency/repeat.timer';
import { isDatabaseUnavailable } from '../infrastructure/errors/database-error';
import { RepeatFilter } from '../infrastructure/queue/repeat-filter';
import { WorkerTasksService } from '../infrastructure/queue/worker-tasks.service';
import { RollUpService } from '../webhooks/stats/roll-up.service';
import { WebhookLifecycleService } from '../webhooks/webhook-lifecycle.service';
import { StoppingWebhooksRepository } from './rows/stopping-webhooks.repository';

const CONTINUE_EVERY_MS = 1000;

/**
 * Cancels the pending deliveries of webhooks that are disabled or deleted: few in the transaction that stops the webhook, many in
 * the background, a page at a time. How far that has come is in the row of the stopping webhook, so any worker may go on.
 */
@Injectable()
export class CancellationService implements OnModuleInit {
  private readonly logger = new Logger(CancellationService.name);
  private readonly logged = new RepeatFilter();

  constructor(
    private readonly lifecycle: WebhookLifecycleService,
    private readonly stopping: StoppingWebhooksRepository,
    private readonly rollUp: RollUpService,
    tasks: WorkerTasksService,
  ) {
    const onFailure = logFirst(this.logger, 'Reading webhooks that are stopping');
    tasks.add(new Repeat(() => this.continueAll(), { everyMs: CONTINUE_EVERY_MS, onFailure }));
  }

  onModuleInit(): void {
    this.lifecycle.whenStopped(async (manager, webhookId, reason, atOnce) => {
      await this.stopping.stop(manager, webhookId, reason, atOnce);
      this.rollUp.note();
    });
  }

  /** Cancels one page of each webhook whose turn it is. Returns 0 when more may follow at once. */
  async continueAll(): Promise<number | void> {
    const { turns } = this.stopping;
    const stopping = await turns.next();
    if (!stopping) return;
    for (const { userId, webhookId } of stopping) if (await this.cancelPage(webhookId)) turns.repeat(userId);
    return 0;
  }

  /** Never throws, so that the others go on; a failed page is retried at the next turn. */
  private async cancelPage(webhookId: string): Promise<boolean> {
    try {
      return await this.stopping.cancelPage(webhookId);
    } catch (error) {
      const text = `Canceling deliveries of ${webhookId} failed; retrying: ${String(error)}`;
      if (!isDatabaseUnavailable(error) && this.logged.isNews(text, Date.now())) this.logger.warn(text);
      return false;
    } finally {
      this.rollUp.note();
    }
  }
}
