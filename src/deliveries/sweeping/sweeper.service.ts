import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { FAN_OUT_QUEUE, FanOutQueue } from '../../events/fan-out.queue';
import { MetricsService } from '../../plumbing/metrics/metrics.service';
import { RedisMemoryClient } from '../../plumbing/queue/redis-memory.client';
import { SendQueue } from '../send.queue';
import { SweepRepository } from './sweep.repository';

/** How many expired rows a sweep has put back on their queues. */
export interface Swept {
  events: number;
  deliveries: number;
  /** The same by the name of the queue; at least 1 where the queue is so full that nothing was put on it. */
  byQueue: ReadonlyMap<string, number>;
}

const MAX_ROWS = 1000;
/** A sweep ends, however much there is: the next one goes on within a second. */
const MAX_PAGES = 10;
const MAX_COUNTED = 10_000;
/** Other sweeps look only for leases that ended lately: nearly all older entries of the index are dead. */
const WHOLE_EVERY_MS = 60_000;
const LATELY_MS = 10_000;

/** Turns rows whose lease has expired into jobs again. Any number of sweepers may run at once. */
@Injectable()
export class SweeperService {
  private readonly logger = new Logger('Sweeper');
  private readonly repairs: Counter<'kind'>;
  /** When a sweep last began that left nothing, and one of everything, in ms of this process. */
  private readonly lastAt = {
    events: { any: -Infinity, whole: -Infinity },
    deliveries: { any: -Infinity, whole: -Infinity },
  };

  constructor(
    private readonly rows: SweepRepository,
    private readonly fanOut: FanOutQueue,
    private readonly send: SendQueue,
    private readonly memory: RedisMemoryClient,
    metrics: MetricsService,
  ) {
    const help = 'Rows that a sweep of this process has put back on their queue.';
    this.repairs = metrics.counterBy('webhooks_sweeper_repairs_total', help, 'kind', ['events', 'deliveries']);
    const expired = `Rows whose lease expired more than 5 s ago, up to ${MAX_COUNTED}.`;
    metrics.gauge('webhooks_unattended_rows', expired, ['kind'], async () => {
      const counts = await this.rows.countExpired(MAX_COUNTED);
      return Object.entries(counts).map(([kind, value]) => ({ labels: { kind }, value }));
    });
  }

  /** One sweep. Throws while a store is away: the rows are left to the next sweep then. */
  async sweep(): Promise<Swept> {
    await this.expireForgotten(await this.memory.lost([FAN_OUT_QUEUE, ...this.send.names]));
    const byQueue = new Map<string, number>();
    const swept = {
      events: await this.reclaimAll('events', (limit, withinMs) => this.reclaimEvents(limit, withinMs, byQueue)),
      deliveries: await this.reclaimAll('deliveries', (limit, withinMs) =>
        this.reclaimDeliveries(limit, withinMs, byQueue),
      ),
    };
    if (swept.events + swept.deliveries > 0) this.logger.log({ msg: 'swept', ...swept });
    return { ...swept, byQueue };
  }

  /** Null: there is no room on the queue. */
  private async reclaimEvents(
    limit: number,
    withinMs: number | null,
    byQueue: Map<string, number>,
  ): Promise<number | null> {
    // Without room they would expire again before a worker has come to them, and be offered twice.
    if (this.fanOut.remaining < limit) {
      byQueue.set(FAN_OUT_QUEUE, byQueue.get(FAN_OUT_QUEUE) ?? 1);
      return null;
    }
    const ids = await this.rows.reclaimEvents(limit, withinMs);
    try {
      await this.fanOut.enqueue(ids);
    } catch (error) {
      await this.rows.releaseEvents(ids);
      throw error;
    }
    byQueue.set(FAN_OUT_QUEUE, ids.length + (byQueue.get(FAN_OUT_QUEUE) ?? 0));
    return ids.length;
  }

  private async reclaimDeliveries(
    limit: number,
    withinMs: number | null,
    byQueue: Map<string, number>,
  ): Promise<number> {
    if (this.send.remaining < limit) return this.rows.parkDeliveries(limit, withinMs);
    const deliveries = await this.rows.reclaimDeliveries(limit, withinMs);
    await this.send.enqueue(deliveries);
    for (const [name, count] of this.send.countByName(deliveries.map(({ id }) => id))) {
      byQueue.set(name, count + (byQueue.get(name) ?? 0));
    }
    return deliveries.length;
  }

  private async expireForgotten(forgetful: readonly string[]): Promise<void> {
    if (forgetful.length === 0) return;
    const { names } = this.send;
    const events = forgetful.includes(FAN_OUT_QUEUE) ? await this.rows.expireEvents() : 0;
    const indexes = [...names.keys()].filter((index) => forgetful.includes(names[index] as string));
    const expired = events + (await this.rows.expireDeliveries(names.length, indexes));
    if (expired > 0) this.logger.warn(`The queue has forgotten ${expired} rows: they are put on it again.`);
  }

  private async reclaimAll(
    kind: 'events' | 'deliveries',
    reclaim: (limit: number, withinMs: number | null) => Promise<number | null>,
  ): Promise<number> {
    const now = performance.now();
    const lastAt = this.lastAt[kind];
    const isWhole = now - lastAt.whole > WHOLE_EVERY_MS || now - lastAt.any > LATELY_MS / 2;
    const withinMs = isWhole ? null : LATELY_MS;
    let [total, found]: [number, number | null] = [0, MAX_ROWS];
    for (let pages = 0; found === MAX_ROWS && pages < MAX_PAGES; pages++) {
      found = await reclaim(MAX_ROWS, withinMs);
      total += found ?? 0;
      this.repairs.inc({ kind }, found ?? 0);
    }
    if (found !== null && found < MAX_ROWS) {
      lastAt.any = now;
      if (isWhole) lastAt.whole = now;
    }
    return total;
  }
}
