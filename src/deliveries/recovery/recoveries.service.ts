import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ClockService } from '../../infrastructure/database/clock.service';
import { ApiError, invalid } from '../../infrastructure/errors/api-error';
import { MESSAGES } from '../../infrastructure/errors/messages';
import { isForeignKeyViolation } from '../../infrastructure/errors/database-error';
import { lowestIdOf } from '../../infrastructure/database/id-time';
import type { PageQueryDto } from '../../infrastructure/pagination/dto/page-query.dto';
import type { Page } from '../../infrastructure/pagination/page';
import type { EventFilter } from '../../webhooks/filter/event-filter';
import { WebhookLifecycleService } from '../../webhooks/webhook-lifecycle.service';
import { WebhooksService } from '../../webhooks/webhooks.service';
import type { RecoverDto } from './dto/recovery.dto';
import { FilteredEventsService } from './filtered-events.service';
import { MissedEventsRepository, type EventWindow } from './missed-events.repository';
import { RecoveriesRepository } from './recoveries.repository';
import type { Recovery } from './recovery.entity';
import { RecoveryProgressService } from './recovery-progress.service';

/** Maximum number of events whose content a count compares with a filter. */
const MAX_FILTERED = 10_000;

export interface MissedCount {
  count: number;
  /** False when a filter decides and there are older events that were not counted. */
  complete: boolean;
}

@Injectable()
export class RecoveriesService implements OnModuleInit {
  constructor(
    private readonly clock: ClockService,
    private readonly webhooks: WebhooksService,
    private readonly missed: MissedEventsRepository,
    private readonly filtered: FilteredEventsService,
    private readonly recoveries: RecoveriesRepository,
    private readonly progress: RecoveryProgressService,
    private readonly lifecycle: WebhookLifecycleService,
  ) {}

  /** Disabling or deleting a webhook ends its recovery. */
  onModuleInit(): void {
    this.lifecycle.whenStopped((manager, webhookId) => this.recoveries.end(manager, webhookId));
  }

  /** Counts the events in the time range that the webhook has missed; with a filter those of the newest 10,000 that match it. */
  async count(userId: string, webhookId: string, wanted: RecoverDto): Promise<MissedCount> {
    const { window, filter } = await this.window(userId, webhookId, wanted);
    return this.countMissed(window, filter);
  }

  /** Starts to send them again. The recovery is stored when this resolves, and continues even if this process ends. */
  async start(userId: string, webhookId: string, wanted: RecoverDto): Promise<Recovery> {
    const { window, filter } = await this.window(userId, webhookId, wanted);
    const { id } = this.clock.newId();
    const { count, complete } = await this.countMissed(window, filter);
    const isDone = complete && count === 0;
    const recovery = await this.recoveries.insert({ id, ...window, count }, isDone).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? new ApiError('not_found', MESSAGES.webhookNotFound) : error; // the webhook was just deleted
    });
    if (!recovery) throw new ApiError('recovery_running', MESSAGES.recoveryRunning);
    void this.progress.continue(recovery);
    return recovery;
  }

  /** Returns one page of the recoveries of a webhook, newest first. */
  async list(userId: string, webhookId: string, page: PageQueryDto): Promise<Page<Recovery>> {
    await this.webhooks.read(userId, { id: webhookId });
    return this.recoveries.list(userId, webhookId, page);
  }

  /** Returns one recovery. */
  async read(userId: string, webhookId: string, id: string): Promise<Recovery> {
    await this.webhooks.read(userId, { id: webhookId });
    const recovery = await this.recoveries.find(userId, webhookId, id);
    if (!recovery) throw new ApiError('not_found', MESSAGES.recoveryNotFound);
    return recovery;
  }

  private async countMissed(window: EventWindow, filter: EventFilter | null): Promise<MissedCount> {
    if (filter === null) return { count: await this.missed.count(window), complete: true };
    const ids = await this.missed.newest(window, MAX_FILTERED + 1);
    const matching = await this.filtered.matching(filter, ids.slice(0, MAX_FILTERED));
    return { count: matching.length, complete: ids.length <= MAX_FILTERED };
  }

  private async window(
    userId: string,
    webhookId: string,
    wanted: RecoverDto,
  ): Promise<{ window: EventWindow; filter: EventFilter | null }> {
    const { since, until, event = null, error = null } = wanted;
    const { active, filter } = await this.webhooks.read(userId, { id: webhookId });
    const now = this.clock.now();
    if (since > now) throw invalid('since', MESSAGES.sinceInFuture);
    if (until && until <= since) throw invalid('until', MESSAGES.untilBeforeSince);
    if (!active) throw new ApiError('webhook_inactive', MESSAGES.webhookInactive);
    const end = until && until < now ? until : now;
    const [firstId, untilId] = [lowestIdOf(since.getTime()), lowestIdOf(end.getTime())];
    return { window: { webhookId, userId, firstId, untilId, event, error }, filter };
  }
}
