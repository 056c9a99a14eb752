import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { EventsService } from '../../events/events.service';
import { unlessErased } from '../../events/unless-erased';
import { Config } from '../../infrastructure/config/config';
import { logFirst, Repeat } from '../../infrastructure/concurrency/repeat.timer';
import { WorkerTasksService } from '../../infrastructure/queue/worker-tasks.service';
import { StatsService } from '../../webhooks/stats/stats.service';
import { disablesAt } from '../../webhooks/webhook-views.service';
import { type DueNotice, type LastError, type NoticedWebhook, NoticesRepository } from './notices.repository';
import { BEFORE_ALL_IDS } from '../../infrastructure/database/id-time';

/** How often a process looks for notices that another process left behind. */
const POLL_INTERVAL_MS = 60_000;
const TURN_EVERY_MS = 1000;
/** Also the most notices of a turn. */
const PAGE = 500;

/**
 * Tells owners that a webhook is failing, or healthy again: at most once a minute for each webhook, and 60 times an hour for each
 * user. What must wait stays due in the row of the webhook, and its owner is told the state of then. Any process may tell it.
 */
@Injectable()
export class NoticesService {
  private readonly logger = new Logger(NoticesService.name);
  /** True when this process knows of a notice that is due. At the start another process may have left one. */
  private isDue = true;
  /** When to look without knowing of one, by `performance.now()`. */
  private pollAtMs = 0;
  /** The last webhook of the page before: those that must wait keep none after them waiting. */
  private lastId = BEFORE_ALL_IDS;

  constructor(
    private readonly dataSource: DataSource,
    private readonly notices: NoticesRepository,
    private readonly stats: StatsService,
    private readonly events: EventsService,
    private readonly config: Config,
    tasks: WorkerTasksService,
  ) {
    const onFailure = logFirst(this.logger, 'Telling owners about their webhooks');
    tasks.add(new Repeat(() => this.turn(), { everyMs: TURN_EVERY_MS, onFailure }));
  }

  /** Notes that a notice is due. It is sent within two seconds unless it must wait. */
  note(): void {
    this.isDue = true;
  }

  private async turn(): Promise<void> {
    if (!this.isDue && performance.now() < this.pollAtMs) return;
    this.isDue = false;
    try {
      const due = await this.notices.due(this.lastId, PAGE);
      this.lastId = (due.length === PAGE && due.at(-1)?.webhookId) || BEFORE_ALL_IDS;
      const tellable = due.filter(({ mayBeTold }) => mayBeTold);
      const waits = tellable.flatMap(({ inMs }) => (inMs > 0 ? [inMs] : []));
      const pollAtMs = performance.now() + Math.min(POLL_INTERVAL_MS, ...waits);
      // Pages before this one may have webhooks whose turn comes earlier.
      this.pollAtMs = this.pollAtMs > performance.now() ? Math.min(this.pollAtMs, pollAtMs) : pollAtMs;
      for (const notice of tellable) if (notice.inMs === 0 && !(await this.tell(notice))) this.isDue = true;
      if (due.length === PAGE) this.isDue = true;
    } catch (error) {
      this.isDue = true;
      throw error;
    }
  }

  /** Returns false if nothing was told. */
  private async tell(notice: DueNotice): Promise<boolean> {
    const { webhookId } = notice;
    const { lastSuccessAt, failingSince } = await this.stats.lastChange(webhookId);
    const lastError = await this.notices.lastError(webhookId);
    const msg = await this.dataSource.transaction(async (manager) => {
      const webhook = await this.notices.take(manager, notice);
      if (!webhook) return null;
      const published = await this.publish(manager, notice, webhook, { lastSuccessAt, lastError });
      await this.notices.told(manager, webhookId, failingSince);
      return published;
    });
    if (msg) this.logger.log({ msg, webhookId });
    return msg !== null;
  }

  private async publish(
    manager: EntityManager,
    { webhookId, userId }: DueNotice,
    webhook: NoticedWebhook,
    { lastSuccessAt, lastError }: { lastSuccessAt: Date | null; lastError: LastError },
  ): Promise<string> {
    const { consecutiveFailures, failingSince, missedCount } = webhook;
    const url = webhook.url && new URL(webhook.url).origin;
    if (missedCount === null) {
      const endsAt = disablesAt(webhook, lastSuccessAt, this.config)?.toISOString() ?? null;
      const data = { webhookId, url, consecutiveFailures, lastError, disablesAt: endsAt };
      await unlessErased(this.events.publish('webhook.failing', data, { userId, manager }));
      return 'webhook failing';
    }
    const data = { webhookId, url, failingSince: failingSince.toISOString(), missedCount };
    await unlessErased(this.events.publish('webhook.healthy', data, { userId, manager }));
    return 'webhook healthy';
  }
}
