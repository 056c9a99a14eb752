import { Injectable } from '@nestjs/common';
import { ClockService } from '../../plumbing/database/clock.service';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';
import { type AttemptCount, type AttemptNumbers, numbersOf } from './attempt-numbers';
import { StatsRepository, type Present } from './stats.repository';
import { type Step, type StepWindow, stepWindow } from './step-window';

/** The numbers of a span of time. */
export interface Stats {
  steps: (AttemptNumbers & { from: Date })[];
  totals: AttemptNumbers;
}

/** What is asked for. */
export interface StatsRequest {
  webhookId?: string;
  since?: Date;
  until?: Date;
  step: Step;
}

/** The last 24 hours of a webhook, and what it does at this moment. */
export type WebhookStats = Stats & Present;

/** Says what attempts came to, from what was counted when their outcomes were written. The log is not read for it. */
@Injectable()
export class StatsService {
  constructor(
    private readonly counts: StatsRepository,
    private readonly clock: ClockService,
  ) {}

  /**
   * The numbers of one webhook, or of all webhooks that the user has or had.
   * @throws ApiError 404 when the user has no such webhook; 400 for more than 300 steps, or an end before the beginning
   */
  async read(userId: string, { webhookId, step, ...span }: StatsRequest): Promise<Stats> {
    const window = stepWindow(step, span, this.clock.now());
    if (webhookId === undefined) return statsOf(window, await this.counts.ofUser(userId, window));
    if (!(await this.counts.hasWebhook(userId, webhookId))) throw new ApiError(404, MESSAGES.webhookNotFound);
    return statsOf(window, await this.counts.ofWebhooks([webhookId], window));
  }

  /** The last 24 hours of each of these webhooks, by the hour; an entry for each id. */
  async ofWebhooks(ids: readonly string[]): Promise<Map<string, WebhookStats>> {
    const now = this.clock.now();
    const window = stepWindow('1h', { since: new Date(now.getTime() - 23 * 3_600_000) }, now);
    const [counts, pending, times] = await Promise.all([
      this.counts.ofWebhooks(ids, window),
      this.counts.pending(ids),
      this.counts.lastTimes(ids),
    ]);
    const countsOf = groupBy(counts, ({ webhookId }) => webhookId);
    const pendingOf = new Map(pending.map((each) => [each.webhookId, each.pending]));
    return new Map(
      times.map((lastTimes) => {
        const { webhookId } = lastTimes;
        const stats = statsOf(window, countsOf.get(webhookId) ?? []);
        return [webhookId, { ...lastTimes, ...stats, pending: pendingOf.get(webhookId) ?? 0 }];
      }),
    );
  }

  /** When an attempt at this webhook last succeeded; null when none is kept. */
  async lastSuccess(webhookId: string): Promise<Date | null> {
    return (await this.lastSuccesses([webhookId])).get(webhookId) ?? null;
  }

  /** When an attempt at each of these webhooks last succeeded; null when none is kept. */
  async lastSuccesses(ids: readonly string[]): Promise<Map<string, Date | null>> {
    if (ids.length === 0) return new Map();
    return new Map((await this.counts.lastTimes(ids)).map((each) => [each.webhookId, each.lastSuccessAt]));
  }
}

function statsOf({ froms }: StepWindow, counts: readonly (AttemptCount & { from: Date })[]): Stats {
  const countsOf = groupBy(counts, ({ from }) => from.getTime());
  const steps = froms.map((from) => ({ from, ...numbersOf(countsOf.get(from.getTime()) ?? []) }));
  return { steps, totals: numbersOf(counts) };
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
