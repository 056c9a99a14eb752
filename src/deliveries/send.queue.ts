import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { ClockService } from '../plumbing/database/clock.service';
import { QueueBudget } from '../plumbing/queue/queue-budget';
import { QueueHealthService } from '../plumbing/queue/queue-health.service';
import { DeliveriesRepository } from './deliveries.repository';
import { sendQueueIndex } from './send-queue-names';
import type { Lane } from './lane';

/** The token of all send queues that exist, in the order of their names. */
export const SEND_QUEUES = Symbol('send queues');

/** An offer to attempt these deliveries of one webhook. The rows hold the truth. */
export interface SendJob {
  deliveryIds: string[];
  lane: Lane;
}

const MAX_JOBS_PER_ADD = 500;
/** Large enough that a job costs little for each delivery, small enough that several workers share the work of one event. */
const MAX_IDS_PER_JOB = 50;
/** Deliveries that the queues hold: at least the work of a second. The rows hold the rest. */
const MAX_OFFERED = 10_000;

interface NewJob {
  data: SendJob;
  opts?: { jobId?: string; delay?: number };
}

/** Offers deliveries to the workers, as jobs. */
@Injectable()
export class SendQueue implements OnModuleInit {
  private readonly logger = new Logger('SendQueue');
  private readonly budget = new QueueBudget(
    MAX_OFFERED,
    () => this.count(),
    () => performance.now(),
  );

  constructor(
    @Inject(SEND_QUEUES) private readonly queues: readonly Queue<SendJob>[],
    private readonly health: QueueHealthService,
    private readonly clock: ClockService,
    private readonly deliveries: DeliveriesRepository,
  ) {}

  onModuleInit(): void {
    for (const queue of this.queues) this.health.watch(queue);
  }

  /** The names of all send queues. */
  get names(): string[] {
    return this.queues.map(({ name }) => name);
  }

  /** How many more deliveries the queues take. What is due beyond that is parked. */
  get remaining(): number {
    return this.budget.remaining();
  }

  /**
   * Queues deliveries of one webhook that are due in `delayMs`. Never throws because of the queue: what it does not take is
   * released to the sweeper, which finds it when it is due.
   */
  async offer(deliveryIds: readonly string[], { webhookId, userId }: Lane, delayMs = 0): Promise<void> {
    try {
      if (this.remaining < deliveryIds.length) return await this.deliveries.releaseLeases(deliveryIds);
      await this.add(deliveryIds, (ids) =>
        pages(ids, MAX_IDS_PER_JOB).map((page) => ({
          data: { deliveryIds: page, lane: { webhookId, userId } },
          // The job of one delivery, such as a retry, has its id, so that a job of the sweeper does not double it.
          opts: { delay: delayMs, ...(page.length === 1 && { jobId: page[0] }) },
        })),
      );
    } catch (error) {
      this.logger.warn(`Deliveries are left to the sweeper, because the queue did not take them: ${String(error)}`);
      // Without this the sweeper would wait until the lease of a job that does not exist has expired.
      await this.deliveries.releaseLeases(deliveryIds).catch(() => undefined);
    }
  }

  /**
   * Queues each delivery as a job of its own, whose id is the delivery's: the queue ignores a job whose id it
   * still knows. Throws when a queue is away: then all of them are released to the sweeper.
   */
  async enqueue(deliveries: readonly (Lane & { id: string })[]): Promise<void> {
    const laneOf = new Map(deliveries.map(({ id, webhookId, userId }) => [id, { webhookId, userId }]));
    try {
      await this.add([...laneOf.keys()], (ids) =>
        ids.map((id) => ({ data: { deliveryIds: [id], lane: laneOf.get(id) as Lane }, opts: { jobId: id } })),
      );
    } catch (error) {
      await this.deliveries.releaseLeases([...laneOf.keys()]);
      throw error;
    }
  }

  /** How many of the deliveries belong to each queue, by its name. */
  countByName(deliveryIds: readonly string[]): [name: string, count: number][] {
    return [...this.byQueue(deliveryIds)].map(([{ name }, { length }]) => [name, length]);
  }

  private async add(deliveryIds: readonly string[], jobsOf: (ids: string[]) => NewJob[]): Promise<void> {
    // By PostgreSQL's clock: a delayed job of a machine whose clock is ahead would wait too long.
    const timestamp = this.clock.now().getTime();
    const tried = await Promise.allSettled(
      [...this.byQueue(deliveryIds)].map(async ([queue, ids]) => {
        const jobs = jobsOf(ids).map(({ data, opts }) => ({ name: 'send', data, opts: { ...opts, timestamp } }));
        for (const page of pages(jobs, MAX_JOBS_PER_ADD)) await queue.addBulk(page);
        this.budget.add(ids.length);
      }),
    );
    const failed = tried.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private byQueue(deliveryIds: readonly string[]): Map<Queue<SendJob>, string[]> {
    const groups = new Map<Queue<SendJob>, string[]>();
    for (const id of deliveryIds) {
      const queue = this.queues[sendQueueIndex(id, this.queues.length)] as Queue<SendJob>;
      const group = groups.get(queue);
      if (group) group.push(id);
      else groups.set(queue, [id]);
    }
    return groups;
  }

  /** Counts jobs, each of which offers one delivery or several. */
  private async count(): Promise<number> {
    const counts = await Promise.all(this.queues.map((queue) => queue.getJobCountByTypes('waiting', 'delayed')));
    return counts.reduce((sum, count) => sum + count, 0);
  }
}

function pages<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
