import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { FAN_OUT_QUEUE, FanOutQueue } from '../../events/fan-out.queue';
import { MetricsService } from '../../plumbing/metrics/metrics.service';
import { RedisMemoryClient } from '../../plumbing/queue/redis-memory.client';
import { SendQueue } from '../send.queue';
import { SweepRepository } from './sweep.repository';

/** How many unattended rows a sweep has put back on their queues. */
export interface Swept {
  events: number;
  deliveries: number;
  /** The same by the name of the queue. */
  byQueue: ReadonlyMap<string, number>;
}

const MAX_ROWS = 1000;
const MAX_COUNTED = 10_000;

/** Turns rows that nobody attends to into jobs again. Any number of sweepers may run at once. */
@Injectable()
export class DeliveriesSweeper {
  private readonly logger = new Logger('Sweeper');
  private readonly repairs: Counter<'kind'>;

  constructor(
    private readonly rows: SweepRepository,
    private readonly fanOut: FanOutQueue,
    private readonly send: SendQueue,
    private readonly memory: RedisMemoryClient,
    metrics: MetricsService,
  ) {
    const help = 'Rows that a sweep of this process has put back on their queue.';
    this.repairs = metrics.counterBy('webhooks_sweeper_repairs_total', help, 'kind', ['events', 'deliveries']);
    const unattended = `Rows that are due while nobody attends to them, up to ${MAX_COUNTED}.`;
    metrics.gauge('webhooks_unattended_rows', unattended, ['kind'], async () => {
      const counts = await this.rows.countUnattended(MAX_COUNTED);
      return Object.entries(counts).map(([kind, value]) => ({ labels: { kind }, value }));
    });
  }

  /** Throws while a store is away: then the rows stay as they are, for the next sweep. */
  async sweep(): Promise<Swept> {
    await this.suspect(await this.memory.lost([FAN_OUT_QUEUE, ...this.send.names]));
    const byQueue = new Map<string, number>();
    const swept = {
      events: await this.renewAll('events', (limit) => this.rows.renewEvents(limit, (ids) => this.fanOut.remind(ids))),
      deliveries: await this.renewAll('deliveries', (limit) =>
        this.send.room < limit
          ? this.rows.parkDeliveries(limit)
          : this.rows.renewDeliveries(limit, async (ids) => {
              await this.send.remind(ids);
              for (const [name, count] of this.send.countByName(ids))
                byQueue.set(name, count + (byQueue.get(name) ?? 0));
            }),
      ),
    };
    if (swept.events + swept.deliveries > 0) this.logger.log({ msg: 'swept', ...swept });
    return { ...swept, byQueue: byQueue.set(FAN_OUT_QUEUE, swept.events) };
  }

  private async suspect(forgetful: readonly string[]): Promise<void> {
    if (forgetful.length === 0) return;
    const { names } = this.send;
    const events = forgetful.includes(FAN_OUT_QUEUE) ? await this.rows.suspectEvents() : 0;
    const indexes = [...names.keys()].filter((index) => forgetful.includes(names[index] as string));
    const suspected = events + (await this.rows.suspectDeliveries(names.length, indexes));
    if (suspected > 0) this.logger.warn(`The queue has forgotten ${suspected} rows: they are put on it again.`);
  }

  private async renewAll(kind: 'events' | 'deliveries', renew: (limit: number) => Promise<number>): Promise<number> {
    let total = 0;
    for (let found = MAX_ROWS; found === MAX_ROWS; total += found) {
      found = await renew(MAX_ROWS);
      this.repairs.inc({ kind }, found);
    }
    return total;
  }
}
