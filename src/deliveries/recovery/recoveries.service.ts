import { Injectable, type OnModuleInit } from '@nestjs/common';
import { MINUTE_MS } from '../../infrastructure/config/durations';
import { ClockService } from '../../infrastructure/database/clock.service';
import { ApiError, invalid, MESSAGES } from '../../infrastructure/errors/api-error';
import { isForeignKeyViolation } from '../../infrastructure/errors/database-error';
import { lowestIdOf } from '../../infrastructure/database/id-time';
import type { PageQueryDto } from '../../infrastructure/pagination/dto/page-query.dto';
import type { Page } from '../../infrastructure/pagination/page';
import { WebhookLifecycleService } from '../../webhooks/webhook-lifecycle.service';
import type { Webhook } from '../../webhooks/webhook.entity';
import { WebhooksService } from '../../webhooks/webhooks.service';
import type { RecoveryRequestDto } from './dto/recovery.dto';
import { FilteredEventsService } from './filtered-events.service';
import { MissedEventsRepository, type EventWindow } from './missed-events.repository';
import { RecoveriesRepository } from './recoveries.repository';
import type { Recovery } from './recovery.entity';
import { RecoveryProgressService } from './recovery-progress.service';

/** A count looks at this many events, and for this long. */
const MAX_LOOKED = 10_000;
const LOOK_FOR_MS = 500;

export interface MissedCount {
  count: number;
  /** False when there are older events that were not looked at. */
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

  /** Counts the events in the time range that the webhook has missed, of the newest 10,000 and for at most half a second. */
  async count(userId: string, webhookId: string, wanted: RecoveryRequestDto): Promise<MissedCount> {
    const { window, webhook } = await this.window(userId, webhookId, wanted);
    return this.countMissed(window, webhook);
  }

  /** Starts to send them again. The recovery is stored when this resolves, and continues even if this process ends. */
  async start(userId: string, webhookId: string, wanted: RecoveryRequestDto): Promise<Recovery> {
    const { window, webhook } = await this.window(userId, webhookId, wanted);
    const { id } = this.clock.newId();
    const counted = await this.countMissed(window, webhook);
    const count = counted.complete ? counted.count : null;
    const recovery = await this.recoveries.insert({ id, ...window, count }, count === 0).catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? new ApiError('not_found', MESSAGES.webhookNotFound) : error; // the webhook was just deleted
    });
    if (!recovery) throw new ApiError('recovery_running', MESSAGES.recoveryRunning);
    void this.progress.continue(recovery);
    return recovery;
  }

  async list(userId: string, webhookId: string, page: PageQueryDto): Promise<Page<Recovery>> {
    await this.webhooks.read(userId, { id: webhookId });
    return this.recoveries.list(userId, webhookId, page);
  }

  async read(userId: string, webhookId: string, id: string): Promise<Recovery> {
    await this.webhooks.read(userId, { id: webhookId });
    const recovery = await this.recoveries.find(userId, webhookId, id);
    if (!recovery) throw new ApiError('not_found', MESSAGES.recoveryNotFound);
    return recovery;
  }

  private async countMissed(window: EventWindow, { filter, events }: Webhook): Promise<MissedCount> {
    const endsAt = performance.now() + LOOK_FOR_MS;
    const names = await this.missed.names(window, events);
    const total = { count: 0, looked: 0 };
    for (let untilId = window.untilId; ;) {
      const { missed, looked, edge } = await this.missed.newest({ ...window, untilId }, names);
      total.count += (await this.filtered.matching(filter, missed)).length;
      total.looked += looked;
      const isOver = total.looked > MAX_LOOKED || performance.now() > endsAt;
      if (edge === null || isOver) return { count: total.count, complete: edge === null };
      untilId = edge;
    }
  }

  private async window(userId: string, webhookId: string, wanted: RecoveryRequestDto) {
    const { since, until, event = null, error = null } = wanted;
    const webhook = await this.webhooks.read(userId, { id: webhookId });
    const now = this.clock.now();
    if (since > now) throw invalid('since', MESSAGES.sinceInFuture);
    if (until && until <= since) throw invalid('until', MESSAGES.untilBeforeSince);
    if (!webhook.active) throw new ApiError('webhook_inactive', MESSAGES.webhookInactive);
    const end = until && until < now ? until : now;
    // No older event is for this webhook.
    const firstMs = Math.max(since.getTime(), webhook.createdAt.getTime() - MINUTE_MS);
    const [firstId, untilId] = [lowestIdOf(firstMs), lowestIdOf(end.getTime())];
    return { window: { webhookId, userId, firstId, untilId, event, error }, webhook };
  }
}
