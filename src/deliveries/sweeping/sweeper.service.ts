import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { FAN_OUT_QUEUE, FanOutQueue } from '../../events/fan-out.queue';
import { MetricsService } from '../../infrastructure/metrics/metrics.service';
import { FanOutService } from '../fan-out/fan-out.service';
import { WaitingRowsRepository } from '../rows/waiting-rows.repository';
import { SendQueue } from '../send.queue';
import { SweepRepository } from './sweep.repository';

export interface Swept {
  events: number;
  deliveries: number;
  /** The same by queue name; at least 1 for a queue that was too full to accept any. */
  byQueue: ReadonlyMap<string, number>;
}

/** What a page found, and whether another one follows it: `left` when it is for a later sweep. */
interface Page {
  rows: number;
  then: 'another' | 'none' | 'left';
}

const MAX_ROWS = 1000;
/** A sweep ends after this many pages; the next one continues within a second. */
const MAX_PAGES = 10;
const MAX_COUNTED = 10_000;
/**
 * How often a sweep covers all leases. The others cover only leases that ended recently: nearly all older index entries are dead.
 */
const WHOLE_EVERY_MS = 60_000;
const LATELY_MS = 10_000;

/** Enqueues jobs for rows whose lease has expired. Any number of sweepers may run at once. */
@Injectable()
export class SweeperService {
  private readonly logger = new Logger(SweeperService.name);
  private readonly repairs: Counter<'kind'>;
  /** Rows of the next page. Only one after a failure: the queue may still be unavailable, and would not accept more. */
  private limit = MAX_ROWS;
  /** Where the next page of events begins, and whether all before it were taken in this sweep. */
  private after: Date | null = null;
  private hasAllBefore = true;
  /** When the last sweep that left no rows began: any, and one of all leases; in ms by `performance.now()`. */
  private readonly lastAt = {
    events: { any: -Infinity, whole: -Infinity },
    deliveries: { any: -Infinity, whole: -Infinity },
  };

  constructor(
    private readonly events: SweepRepository,
    private readonly rows: WaitingRowsRepository,
    private readonly queue: FanOutQueue,
    private readonly fanOut: FanOutService,
    private readonly send: SendQueue,
    metrics: MetricsService,
  ) {
    const help = 'Rows that a sweep of this process has enqueued again.';
    this.repairs = metrics.counterBy('webhooks_sweeper_repairs_total', help, 'kind', ['events', 'deliveries']);
    const expired = `Rows whose lease expired more than 5 s ago, up to ${MAX_COUNTED}.`;
    metrics.gauge('webhooks_unattended_rows', expired, ['kind'], async () => {
      const counts = await this.events.countExpired(MAX_COUNTED);
      return Object.entries(counts).map(([kind, value]) => ({ labels: { kind }, value }));
    });
  }

  /** Performs one sweep. Throws while a store is unavailable; the rows are then left to the next sweep. */
  async sweep(): Promise<Swept> {
    const byQueue = new Map<string, number>();
    this.hasAllBefore = this.after === null;
    const swept = {
      events: await this.reclaimAll('events', (limit, withinMs) => this.reclaimEvents(limit, withinMs, byQueue)),
      deliveries: await this.reclaimAll('deliveries', (limit, withinMs) =>
        this.reclaimDeliveries(limit, withinMs, byQueue),
      ),
    };
    if (swept.events + swept.deliveries > 0) this.logger.log({ msg: 'swept', ...swept });
    return { ...swept, byQueue };
  }

  /** Leaves those of users of whom this process has enough events, and all when the queue is full. */
  private async reclaimEvents(limit: number, withinMs: number | null, byQueue: Map<string, number>): Promise<Page> {
    // Otherwise the events would expire again before a worker gets to them, and be enqueued twice.
    const { usersWithEnough } = this.fanOut;
    if (usersWithEnough === null) return { rows: 0, then: 'left' };
    if (this.queue.remaining < limit) {
      byQueue.set(FAN_OUT_QUEUE, byQueue.get(FAN_OUT_QUEUE) ?? 1);
      return { rows: 0, then: 'left' };
    }
    const { events, next, isLocked } = await this.events.reclaimEvents(limit, withinMs, usersWithEnough, this.after);
    try {
      await this.queue.enqueue(events);
    } catch (error) {
      if (events.length > 0) await this.events.releaseEvents(events.map(({ id }) => id));
      throw error;
    }
    byQueue.set(FAN_OUT_QUEUE, events.length + (byQueue.get(FAN_OUT_QUEUE) ?? 0));
    this.hasAllBefore &&= usersWithEnough.length === 0 && !isLocked;
    if (events.length === limit) return { rows: limit, then: 'another' };
    this.after = next;
    return { rows: events.length, then: next ? 'another' : this.hasAllBefore ? 'none' : 'left' };
  }

  private async reclaimDeliveries(limit: number, withinMs: number | null, byQueue: Map<string, number>): Promise<Page> {
    const pageOf = (rows: number): Page => ({ rows, then: rows === limit ? 'another' : 'none' });
    if (this.send.remaining < limit) return pageOf(await this.rows.deferExpired(limit, withinMs));
    const swept = await this.rows.reclaim(limit, withinMs);
    const deliveries = swept.filter(({ isStopped }) => !isStopped);
    await this.send.enqueueEach(deliveries);
    for (const [name, count] of this.send.countByName(deliveries.map(({ id }) => id))) {
      byQueue.set(name, count + (byQueue.get(name) ?? 0));
    }
    return pageOf(swept.length);
  }

  private async reclaimAll(
    kind: 'events' | 'deliveries',
    reclaim: (limit: number, withinMs: number | null) => Promise<Page>,
  ): Promise<number> {
    const now = performance.now();
    const lastAt = this.lastAt[kind];
    const isWhole = now - lastAt.whole > WHOLE_EVERY_MS || now - lastAt.any > LATELY_MS / 2;
    const withinMs = isWhole ? null : LATELY_MS;
    let total = 0;
    let page: Page = { rows: 0, then: 'another' };
    for (let pages = 0; page.then === 'another' && pages < MAX_PAGES; pages++) {
      const { limit } = this;
      this.limit = 1;
      page = await reclaim(limit, withinMs);
      this.limit = MAX_ROWS;
      total += page.rows;
      this.repairs.inc({ kind }, page.rows);
    }
    if (page.then === 'none') {
      lastAt.any = now;
      if (isWhole) lastAt.whole = now;
    }
    return total;
  }
}
