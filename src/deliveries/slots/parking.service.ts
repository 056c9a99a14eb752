import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Batcher } from '../../plumbing/database/batcher';
import { MetricsService } from '../../plumbing/metrics/metrics.service';
import type { Lane } from '../lane';
import { LaneTurns } from './lane-turns';
import { ParkedRepository } from './parked.repository';

const MAX_BATCH = 200;
const MAX_COUNTED = 10_000;
const MAX_WEBHOOKS_PER_LOOK = 1000;
const FIRST: Lane = { userId: '', webhookId: '00000000-0000-0000-0000-000000000000' };

/**
 * Parks deliveries for which there is no slot: they wait in their rows, not on the queue and not in memory, until a worker
 * admits them. Remembers which webhooks have such rows.
 */
@Injectable()
export class ParkingService {
  /** The webhooks that are known to have parked deliveries. */
  readonly lanes = new LaneTurns();
  private readonly parked: Counter;
  private readonly parks = new Batcher<string, boolean>((ids) => this.rows.park(ids), MAX_BATCH);
  private lastSeen = FIRST;
  private onParked: () => void = () => undefined;

  constructor(
    private readonly rows: ParkedRepository,
    metrics: MetricsService,
  ) {
    this.parked = metrics.counter('webhooks_deliveries_parked_total', 'Deliveries that found no slot and were parked.');
    const help = `Deliveries that are due and wait for a slot, up to ${MAX_COUNTED}.`;
    metrics.gauge('webhooks_parked_rows', help, ['kind'], async () => [
      { labels: { kind: 'deliveries' }, value: await this.rows.count(MAX_COUNTED) },
    ]);
  }

  /** Calls `listener` whenever deliveries have been parked: slots may be free meanwhile. */
  whenParked(listener: () => void): void {
    this.onParked = listener;
  }

  /** Learns which webhooks have parked deliveries, the next 1,000 of them. Throws while PostgreSQL is away. */
  async look(): Promise<void> {
    const found = await this.rows.lanes(this.lastSeen, MAX_WEBHOOKS_PER_LOOK);
    for (const lane of found) this.lanes.add(lane);
    this.lastSeen = (found.length === MAX_WEBHOOKS_PER_LOOK && found.at(-1)) || FIRST;
  }

  /** True when older deliveries of this webhook wait for a slot: a newer one waits behind them. */
  hasParked(webhookId: string): boolean {
    return this.lanes.has(webhookId);
  }

  /** Parks a delivery, unless it is settled, parked or claimed. Throws while PostgreSQL is away. */
  async park(deliveryId: string, lane: Lane): Promise<void> {
    if (await this.parks.add(deliveryId)) this.note([lane]);
  }

  /** Takes note of deliveries of these webhooks that have been parked, one lane for each. */
  note(lanes: readonly Lane[]): void {
    if (lanes.length === 0) return;
    this.parked.inc(lanes.length);
    for (const lane of lanes) this.lanes.add(lane);
    this.onParked();
  }
}
