import { Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Config } from '../../infrastructure/config/config';
import { DeferredRepository } from './deferred.repository';

const MAX_WEBHOOKS = 10_000;
/** How often the rows of a full webhook are counted again, while it gets events. */
const RECOUNT_EVERY_MS = 5000;

interface Backlog {
  isFull: boolean;
  /** Rows that this process may insert before it counts again. */
  left: number;
  countedAt: number;
  isCounting: boolean;
}

/** Which webhooks have too many pending rows. Counts them when this process may have inserted a quarter of what is missing. */
@Injectable()
export class BacklogService {
  private readonly logger = new Logger(BacklogService.name);
  private readonly backlogs = new LRUCache<string, Backlog>({ max: MAX_WEBHOOKS });
  private readonly most: number;

  constructor(
    config: Config,
    private readonly rows: DeferredRepository,
  ) {
    this.most = config.maxPendingPerWebhook;
  }

  /** Returns true when the webhook had too many pending deliveries when they were last counted. */
  isFull(webhookId: string): boolean {
    const backlog = this.backlogs.get(webhookId);
    if (!backlog?.isFull) return false;
    if (performance.now() - backlog.countedAt > RECOUNT_EVERY_MS) void this.count(webhookId, backlog);
    return true;
  }

  /** Notes that this process has inserted a pending delivery. */
  note(webhookId: string): void {
    const backlog = this.backlogs.get(webhookId) ?? this.begin(webhookId);
    backlog.left -= 1;
    if (backlog.left <= 0) void this.count(webhookId, backlog);
  }

  private begin(webhookId: string): Backlog {
    const backlog = { isFull: false, left: 1, countedAt: 0, isCounting: false };
    this.backlogs.set(webhookId, backlog);
    return backlog;
  }

  /** Never throws: after a failure the next delivery counts again. */
  private async count(webhookId: string, backlog: Backlog): Promise<void> {
    if (backlog.isCounting) return;
    backlog.isCounting = true;
    try {
      const pending = await this.rows.countPending(webhookId, this.most);
      backlog.isFull = pending >= this.most;
      backlog.left = Math.max(this.most / 100, (this.most - pending) / 4);
      backlog.countedAt = performance.now();
    } catch (error) {
      this.logger.debug(`Counting the pending deliveries of ${webhookId} failed: ${String(error)}`);
    } finally {
      backlog.isCounting = false;
    }
  }
}
