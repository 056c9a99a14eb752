import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import type { PartitionKey } from '../partition-key';
import { RoundRobin } from './round-robin';
import { DeferredRepository } from './deferred.repository';

const MAX_COUNTED = 10_000;
const MAX_WEBHOOKS = 1000;
const FIRST: PartitionKey = { userId: '', webhookId: '00000000-0000-0000-0000-000000000000' };

/**
 * Defers deliveries that get no slot: they wait in their rows, neither in a queue nor in memory, until a worker dispatches them.
 * Tracks which webhooks have such rows.
 */
@Injectable()
export class DeferralService {
  /** The webhooks that are known to have deferred deliveries. */
  readonly keys = new RoundRobin();
  private readonly deferred: Counter;
  private lastSeen = FIRST;
  private onDeferred: () => void = () => undefined;

  constructor(
    private readonly rows: DeferredRepository,
    metrics: MetricsService,
  ) {
    this.deferred = metrics.counter(
      'webhooks_deliveries_parked_total',
      'Deliveries that found no slot and were deferred.',
    );
    const help = `Deliveries that are due and wait for a slot, up to ${MAX_COUNTED}.`;
    metrics.gauge('webhooks_parked_rows', help, ['kind'], async () => [
      { labels: { kind: 'deliveries' }, value: await this.rows.count(MAX_COUNTED) },
    ]);
  }

  /** Calls `listener` whenever deliveries have been deferred: slots may have become free in the meantime. */
  whenDeferred(listener: () => void): void {
    this.onDeferred = listener;
  }

  /** Queries the next 1,000 webhooks that have deferred deliveries. Throws while PostgreSQL is unavailable. */
  async refresh(): Promise<void> {
    const found = await this.rows.keys(this.lastSeen, MAX_WEBHOOKS);
    for (const key of found) this.keys.add(key);
    this.lastSeen = (found.length === MAX_WEBHOOKS && found.at(-1)) || FIRST;
  }

  /** Returns true when older deliveries of this webhook are deferred: a newer one waits behind them. */
  hasDeferred(webhookId: string): boolean {
    return this.keys.has(webhookId);
  }

  /** Defers a delivery, unless it is final, deferred or claimed. Throws while PostgreSQL is unavailable. */
  async defer(deliveryId: string, key: PartitionKey): Promise<void> {
    if (await this.rows.defer(deliveryId)) this.note([key]);
  }

  /** Records deliveries that have been deferred, one key for each. */
  note(keys: readonly PartitionKey[]): void {
    if (keys.length === 0) return;
    this.deferred.inc(keys.length);
    for (const key of keys) this.keys.add(key);
    this.onDeferred();
  }
}
