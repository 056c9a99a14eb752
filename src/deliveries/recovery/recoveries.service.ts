import { Injectable } from '@nestjs/common';
import { ClockService } from '../../plumbing/database/clock.service';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';
import { isForeignKeyViolation } from '../../plumbing/errors/database-error';
import { lowestIdOf } from '../../plumbing/database/id-time';
import { WebhooksService } from '../../webhooks/webhooks.service';
import { MissedEventsRepository, type EventWindow } from './missed-events.repository';
import { RecoveriesRepository } from './recoveries.repository';
import type { Recovery } from './recovery.entity';
import { RecoveryProgressService } from './recovery-progress.service';

/** Sends again what a webhook has missed. */
@Injectable()
export class RecoveriesService {
  constructor(
    private readonly clock: ClockService,
    private readonly webhooks: WebhooksService,
    private readonly missed: MissedEventsRepository,
    private readonly recoveries: RecoveriesRepository,
    private readonly progress: RecoveryProgressService,
  ) {}

  /**
   * How many events of this time the webhook has missed.
   * @throws ApiError 404 without such a webhook, 400 for an empty or a future window, 409 when the webhook is inactive
   */
  async count(userId: string, webhookId: string, since: Date, until?: Date): Promise<number> {
    return this.missed.count(await this.window(userId, webhookId, since, until));
  }

  /**
   * Begins to send them again. The recovery is stored when this resolves, and goes on whatever happens to this process.
   * @throws ApiError as `count`, and 409 while another recovery of the webhook is running
   */
  async start(userId: string, webhookId: string, since: Date, until?: Date): Promise<Recovery> {
    const window = await this.window(userId, webhookId, since, until);
    const { id } = this.clock.birth();
    const count = await this.missed.count(window);
    const recovery = await this.recoveries.insert({ id, ...window, count }).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? new ApiError(404, MESSAGES.webhookNotFound) : error; // deleted meanwhile
    });
    if (!recovery) throw new ApiError(409, MESSAGES.recoveryRunning);
    void this.progress.continue(recovery);
    return recovery;
  }

  /** @throws ApiError 404 when the user has no such webhook, or the webhook no such recovery */
  async read(userId: string, webhookId: string, id: string): Promise<Recovery> {
    await this.webhooks.read(userId, webhookId);
    const recovery = await this.recoveries.find(userId, webhookId, id);
    if (!recovery) throw new ApiError(404, MESSAGES.recoveryNotFound);
    return recovery;
  }

  private async window(userId: string, webhookId: string, since: Date, until?: Date): Promise<EventWindow> {
    const { active } = await this.webhooks.read(userId, webhookId);
    const now = this.clock.now();
    if (since > now) throw new ApiError(400, MESSAGES.sinceInFuture);
    if (until && until <= since) throw new ApiError(400, MESSAGES.untilBeforeSince);
    if (!active) throw new ApiError(409, MESSAGES.webhookInactive);
    const end = until && until < now ? until : now;
    return { webhookId, userId, firstId: lowestIdOf(since.getTime()), untilId: lowestIdOf(end.getTime()) };
  }
}
