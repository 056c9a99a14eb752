import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import type { PartitionKey } from '../rows/attempt';
import { WaitingRowsRepository } from '../rows/waiting-rows.repository';
import { RoundRobin } from './round-robin';
import { type DeferredKey, DeferredRepository, type WaitCounts } from './deferred.repository';

const MAX_COUNTED = 10_000;
const MAX_WEBHOOKS = 1000;
const FIRST: PartitionKey = { userId: '', webhookId: '00000000-0000-0000-0000-000000000000' };
/** Attempts of a rate that begin together, as the time that they use. */
const TOGETHER_S = 0.25;
/** The shortest rest of a webhook whose rate is used up: several of its attempts are then claimed together. */
const MIN_REST_MS = 100;

/**
 * Defers deliveries that get no slot, or whose webhook has a rate: they wait in their rows, neither in a queue nor in memory, until
 * a worker dispatches them. Tracks which webhooks have such rows. A webhook whose rate is used up rests: nothing is asked of its
 * rows until it has a permit again.
 */
@Injectable()
export class DeferralService {
  /** The webhooks that are known to have deferred deliveries, except those that rest. */
  readonly keys = new RoundRobin();
  private readonly resting = new Map<string, NodeJS.Timeout>();
  private readonly deferred: Counter;
  private counting: Promise<WaitCounts> | null = null;
  private lastSeen = FIRST;
  private onDeferred: () => void = () => undefined;

  constructor(
    private readonly deferrals: DeferredRepository,
    private readonly rows: WaitingRowsRepository,
    metrics: MetricsService,
  ) {
    this.deferred = metrics.counter(
      'webhooks_deliveries_parked_total',
      'Deliveries that were deferred: they found no slot, or their webhook has a rate.',
    );
    const gauge = (name: string, waitsFor: keyof WaitCounts, which: string): void =>
      metrics.gauge(name, `Deliveries ${which}, up to ${MAX_COUNTED}.`, ['kind'], async () => [
        { labels: { kind: 'deliveries' }, value: (await this.count())[waitsFor] },
      ]);
    gauge('webhooks_parked_rows', 'slot', 'that are due and wait for a slot');
    gauge('webhooks_rate_limited_rows', 'rate', 'that are due and wait for the rate of their webhook');
    gauge('webhooks_pull_rows', 'consumer', 'of pull webhooks that no consumer has leased');
  }

  /** Calls `listener` whenever deliveries may begin: they were deferred, or their webhook has rested. */
  whenDeferred(listener: () => void): void {
    this.onDeferred = listener;
  }

  /** Queries the next 1,000 webhooks that have deferred deliveries. Throws while PostgreSQL is unavailable. */
  async refresh(): Promise<void> {
    const found = await this.deferrals.keys(this.lastSeen, MAX_WEBHOOKS);
    for (const key of found) if (key.mayBegin) this.wake(key);
    this.lastSeen = (found.length === MAX_WEBHOOKS && found.at(-1)) || FIRST;
  }

  /** Returns true when older deliveries of this webhook are deferred: a newer one waits behind them. */
  hasDeferred(webhookId: string): boolean {
    return this.keys.has(webhookId);
  }

  /** Defers a delivery, unless it is final, deferred or claimed by another process. */
  async defer(deliveryId: string, { userId, webhookId }: PartitionKey, isClaimed = false): Promise<void> {
    const deferred = await this.rows.defer(deliveryId, isClaimed);
    if (deferred) this.note({ userId, webhookId, maxPerSecond: deferred.maxPerSecond });
  }

  note(key: DeferredKey): void {
    this.deferred.inc();
    if (this.resting.has(key.webhookId)) return;
    this.wake(key);
    this.onDeferred();
  }

  /** Lets a webhook rest whose rate is used up, until it has a permit, but at least for 100 ms. */
  rest(key: DeferredKey, ms: number): void {
    this.restUntil(key.webhookId, Math.max(MIN_REST_MS, ms), () => {
      this.wake(key);
      this.onDeferred();
    });
  }

  /**
   * Forgets a webhook of which fewer rows were claimed than wanted: it has no more. One with a rate of which none was claimed may
   * have more, but other processes have its permits.
   */
  forget(webhookId: string, foundSome: boolean): void {
    if (foundSome || !this.keys.isLimited(webhookId)) this.keys.remove(webhookId);
    else this.restUntil(webhookId, MIN_REST_MS, () => this.resting.delete(webhookId));
  }

  /** One statement for both gauges of a scrape. */
  private count(): Promise<WaitCounts> {
    this.counting ??= this.deferrals.count(MAX_WEBHOOKS, MAX_COUNTED).finally(() => (this.counting = null));
    return this.counting;
  }

  private restUntil(webhookId: string, ms: number, end: () => void): void {
    this.keys.remove(webhookId);
    clearTimeout(this.resting.get(webhookId));
    this.resting.set(webhookId, setTimeout(end, ms).unref());
  }

  private wake(key: DeferredKey): void {
    clearTimeout(this.resting.get(key.webhookId));
    this.resting.delete(key.webhookId);
    const { maxPerSecond } = key;
    this.keys.add(key, maxPerSecond === null ? undefined : Math.ceil(maxPerSecond * TOGETHER_S));
  }
}
