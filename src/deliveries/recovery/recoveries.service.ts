import { Injectable } from '@nestjs/common';
import { ClockService } from '../../plumbing/database/clock.service';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';
import { isForeignKeyViolation } from '../../plumbing/errors/database-error';
import { lowestIdOf } from '../../plumbing/database/id-time';
import type { PageQueryDto } from '../../plumbing/pagination/dto/page-query.dto';
import type { Page } from '../../plumbing/pagination/page';
import { WebhooksService } from '../../webhooks/webhooks.service';
import type { RecoverDto } from './dto/recovery.dto';
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
  async count(userId: string, webhookId: string, wanted: RecoverDto): Promise<number> {
    return this.missed.count(await this.window(userId, webhookId, wanted));
  }

  /**
   * Begins to send them again. The recovery is stored when this resolves, and goes on whatever happens to this process.
   * @throws ApiError as `count`, and 409 while another recovery of the webhook is running
   */
  async start(userId: string, webhookId: string, wanted: RecoverDto): Promise<Recovery> {
    const window = await this.window(userId, webhookId, wanted);
    const { id } = this.clock.birth();
    const count = await this.missed.count(window);
    const recovery = await this.recoveries.insert({ id, ...window, count }).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? new ApiError(404, MESSAGES.webhookNotFound) : error; // deleted meanwhile
    });
    if (!recovery) throw new ApiError(409, MESSAGES.recoveryRunning);
    void this.progress.continue(recovery);
    return recovery;
  }

  /**
   * One page of the recoveries of a webhook, newest first.
   * @throws ApiError 404 when the user has no such webhook, 400 for a bad cursor
   */
  async list(userId: string, webhookId: string, page: PageQueryDto): Promise<Page<Recovery>> {
    await this.webhooks.read(userId, webhookId);
    return this.recoveries.list(userId, webhookId, page);
  }

  /** @throws ApiError 404 when the user has no such webhook, or the webhook no such recovery */
  async read(userId: string, webhookId: string, id: string): Promise<Recovery> {
    await this.webhooks.read(userId, webhookId);
    const recovery = await this.recoveries.find(userId, webhookId, id);
    if (!recovery) throw new ApiError(404, MESSAGES.recoveryNotFound);
    return recovery;
  }

  private async window(userId: string, webhookId: string, wanted: RecoverDto): Promise<EventWindow> {
    const { since, until, event = null, error = null } = wanted;
    const { active } = await this.webhooks.read(userId, webhookId);
    const now = this.clock.now();
    if (since > now) throw new ApiError(400, MESSAGES.sinceInFuture);
    if (until && until <= since) throw new ApiError(400, MESSAGES.untilBeforeSince);
    if (!active) throw new ApiError(409, MESSAGES.webhookInactive);
    const end = until && until < now ? until : now;
    const [firstId, untilId] = [lowestIdOf(since.getTime()), lowestIdOf(end.getTime())];
    return { webhookId, userId, firstId, untilId, event, error };
  }
}
