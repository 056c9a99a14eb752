import { Injectable } from '@nestjs/common';
import { ClockService } from '../../infrastructure/database/clock.service';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { type AttemptCount, type AttemptNumbers, numbersOf } from './attempt-numbers';
import { type LastTimes, type Present, StatsRepository } from './stats.repository';
import { type Step, type StepWindow, stepWindow } from './step-window';
import { HOUR_MS } from '../../infrastructure/config/durations';

export interface Stats {
  steps: (AttemptNumbers & { from: Date })[];
  totals: AttemptNumbers;
}

export interface StatsRequest {
  webhookId?: string;
  since?: Date;
  until?: Date;
  step: Step;
}

/** Statistics of a webhook's last 24 hours, and its current state. */
export interface WebhookStats extends Stats, Present {
  /** The last attempt; null if none is on record. */
  lastDeliveryAt: Date | null;
}

/** Returns statistics of attempts from the counts that are written with their outcomes, without reading the log. */
@Injectable()
export class StatsService {
  constructor(
    private readonly counts: StatsRepository,
    private readonly clock: ClockService,
  ) {}

  /** Returns the statistics of one webhook, or of all webhooks that the user has or had. */
  async read(userId: string, { webhookId, step, ...span }: StatsRequest): Promise<Stats> {
    const window = stepWindow(step, span, this.clock.now());
    if (webhookId === undefined) return statsOf(window, await this.counts.ofUser(userId, window));
    if (!(await this.counts.hasWebhook(userId, webhookId))) throw new ApiError('not_found', MESSAGES.webhookNotFound);
    return statsOf(window, await this.counts.ofWebhooks([webhookId], window));
  }

  /** Returns the statistics of the last 24 hours of each of these webhooks, by the hour; one entry per id. */
  async ofWebhooks(ids: readonly string[]): Promise<Map<string, WebhookStats>> {
    const now = this.clock.now();
    const window = stepWindow('1h', { since: new Date(now.getTime() - 23 * HOUR_MS) }, now);
    const [counts, present] = await Promise.all([this.counts.ofWebhooks(ids, window), this.counts.present(ids)]);
    const countsOf = groupBy(counts, ({ webhookId }) => webhookId);
    return new Map(
      present.map(({ webhookId, ...state }) => {
        const stats = statsOf(window, countsOf.get(webhookId) ?? []);
        return [webhookId, { ...stats, ...state, lastDeliveryAt: later(state.lastSuccessAt, state.lastFailureAt) }];
      }),
    );
  }

  /** Returns the time of the last successful attempt to this webhook; null if none is on record. */
  async lastSuccess(webhookId: string): Promise<Date | null> {
    return (await this.lastTimes([webhookId])).get(webhookId)?.lastSuccessAt ?? null;
  }

  /** Returns the last success of this webhook, and the first failure after it; null for what is not on record. */
  async lastChange(webhookId: string): Promise<Pick<Present, 'lastSuccessAt' | 'failingSince'>> {
    const [present] = await this.counts.present([webhookId]);
    return present ?? { lastSuccessAt: null, failingSince: null };
  }

  /** Returns the times of the last attempts to each of these webhooks; one entry per id. */
  async lastTimes(ids: readonly string[]): Promise<Map<string, LastTimes>> {
    if (ids.length === 0) return new Map();
    return new Map((await this.counts.lastTimes(ids)).map(({ webhookId, ...times }) => [webhookId, times]));
  }
}

/** Returns the later time; null if there is neither. */
export function later(one: Date | null, other: Date | null): Date | null {
  return one && other ? (one > other ? one : other) : (one ?? other);
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
