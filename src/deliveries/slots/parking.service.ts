import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Batcher } from '../../plumbing/database/batcher';
import { MetricsService } from '../../plumbing/metrics/metrics.service';
import { WorkersService } from '../../plumbing/queue/workers.service';
import { AttemptSlotsService } from './slots.service';
import { Backlog } from './parked-lanes';
import type { Lane } from './fair-share';
import { ParkedRepository } from './parked.repository';

const LOOK_EVERY_MS = 1000;
const FORGET_IDLE_EVERY_MS = 600_000;
const MAX_BATCH = 200;
const MAX_WEBHOOKS_PER_LOOK = 1000;
const MAX_COUNTED = 10_000;
const FIRST: Lane = { userId: '', webhookId: '00000000-0000-0000-0000-000000000000' };

type Attempt = (deliveryId: string, lane: Lane) => Promise<void>;

/**
 * Deliveries for which there is no slot wait in their rows, not on the queue; each worker lets them in as it has room,
 * user by user. Which webhooks have such rows it learns from its own parking, and every second from PostgreSQL.
 */
@Injectable()
export class ParkingService implements OnApplicationShutdown {
  private readonly logger = new Logger('Parking');
  private readonly backlog = new Backlog();
  private readonly parked: Counter;
  private readonly parks = new Batcher<string, void>(async (ids) => {
    await this.rows.park(ids);
    return ids.map(() => undefined);
  }, MAX_BATCH);
  private timer?: NodeJS.Timeout;
  private attempt: Attempt | null = null;
  private lettingIn = false;
  private failing = false;
  private lastSeen = FIRST;
  private idleForgottenAt = Date.now();

  constructor(
    private readonly slots: AttemptSlotsService,
    private readonly rows: ParkedRepository,
    private readonly workers: WorkersService,
    metrics: MetricsService,
  ) {
    this.parked = metrics.counter('webhooks_deliveries_parked_total', 'Deliveries that found no slot and were parked.');
    const help = `Deliveries that are due and wait for a slot, up to ${MAX_COUNTED}.`;
    metrics.gauge('webhooks_parked_rows', help, ['kind'], async () => [
      { labels: { kind: 'deliveries' }, value: await this.rows.count(MAX_COUNTED) },
    ]);
  }

  /** @param attempt makes the attempt of a delivery whose slot is taken already, gives the slot back, and never throws */
  start(attempt: Attempt): void {
    this.attempt = attempt;
    this.slots.whenFree(() => void this.letIn());
    void this.look();
  }

  /** Lets nothing in any more; what is under way ends by itself. */
  stop(): void {
    this.attempt = null;
    clearTimeout(this.timer);
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  /** Whether older deliveries of this webhook wait for a slot: then a newer one waits behind them. */
  isBacklogged(webhookId: string): boolean {
    return this.backlog.has(webhookId);
  }

  async park(deliveryId: string, lane: Lane): Promise<void> {
    await this.parks.add(deliveryId);
    this.note([lane]);
  }

  /** Deliveries of these webhooks have been parked. */
  note(lanes: readonly Lane[]): void {
    if (lanes.length === 0) return;
    this.parked.inc(lanes.length);
    for (const lane of lanes) this.backlog.add(lane);
    void this.letIn();
  }

  private async look(): Promise<void> {
    try {
      const found = await this.rows.backlogged(this.lastSeen, MAX_WEBHOOKS_PER_LOOK);
      for (const lane of found) this.backlog.add(lane);
      this.lastSeen = (found.length === MAX_WEBHOOKS_PER_LOOK && found.at(-1)) || FIRST;
      this.failing = false;
    } catch (error) {
      this.report(error);
    }
    if (Date.now() - this.idleForgottenAt > FORGET_IDLE_EVERY_MS) {
      this.slots.forgetIdle();
      this.idleForgottenAt = Date.now();
    }
    void this.letIn();
    if (this.attempt) this.timer = setTimeout(() => void this.look(), LOOK_EVERY_MS);
  }

  private async letIn(): Promise<void> {
    if (this.lettingIn || !this.attempt) return;
    this.lettingIn = true;
    try {
      while (this.attempt && this.backlog.size > 0 && (await this.letInOnce(this.attempt)));
    } catch (error) {
      this.report(error);
    } finally {
      this.lettingIn = false;
    }
  }

  /** Whether there was room for any. */
  private async letInOnce(attempt: Attempt): Promise<boolean> {
    const wanted = this.slots.enterFrom(this.backlog);
    if (wanted.length === 0) return false;
    const unused = new Map(wanted.map((letIn) => [letIn.webhookId, { ...letIn }]));
    try {
      for (const { id, webhookId } of await this.rows.letIn(wanted)) {
        const lane = unused.get(webhookId);
        if (!lane) continue;
        lane.count -= 1;
        void this.workers.during(() => attempt(id, lane));
      }
      for (const { webhookId, count } of unused.values()) if (count > 0) this.backlog.remove(webhookId);
      return true;
    } finally {
      for (const lane of unused.values()) for (; lane.count > 0; lane.count -= 1) this.slots.leave(lane, null);
    }
  }

  private report(error: unknown): void {
    if (!this.failing) this.logger.warn(`Letting parked deliveries in fails, and is tried again: ${String(error)}`);
    this.failing = true;
  }
}
