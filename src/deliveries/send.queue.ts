import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { Batcher } from '../plumbing/database/batcher';
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

/** Offers that are made at the same time, such as the retries of attempts that ended together, are added together. */
const MAX_OFFERS_PER_ADD = 200;

interface Offer extends SendJob {
  delayMs: number;
}

interface NewJob {
  data: SendJob;
  opts: { jobId?: string; delay?: number };
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
  private readonly offers = new Batcher<Offer, void>((offers) => this.addOrRelease(offers), MAX_OFFERS_PER_ADD);

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
  offer(deliveryIds: string[], { webhookId, userId }: Lane, delayMs = 0): Promise<void> {
    return this.offers.add({ deliveryIds, lane: { webhookId, userId }, delayMs });
  }

  /**
   * Queues each delivery as a job of its own, whose id is the delivery's: the queue ignores a job whose id it
   * still knows. Throws when a queue is away: then all of them are released to the sweeper.
   */
  async enqueue(deliveries: readonly (Lane & { id: string })[]): Promise<void> {
    const jobs = deliveries.map(({ id, webhookId, userId }) => ({
      data: { deliveryIds: [id], lane: { webhookId, userId } },
      opts: { jobId: id },
    }));
    try {
      await this.add(jobs);
    } catch (error) {
      await this.deliveries.releaseLeases(deliveries.map(({ id }) => id));
      throw error;
    }
  }

  /** How many of the deliveries belong to each queue, by its name. */
  countByName(deliveryIds: readonly string[]): [name: string, count: number][] {
    return [...this.byQueue(deliveryIds)].map(([{ name }, { length }]) => [name, length]);
  }

  private async addOrRelease(offers: Offer[]): Promise<void[]> {
    const ids = offers.flatMap(({ deliveryIds }) => deliveryIds);
    try {
      if (this.remaining < ids.length) await this.deliveries.releaseLeases(ids);
      else await this.add(offers.flatMap((offer) => this.jobsOf(offer)));
    } catch (error) {
      this.logger.warn(`Deliveries are left to the sweeper, because the queue did not take them: ${String(error)}`);
      // Without this the sweeper would wait until the lease of a job that does not exist has expired.
      await this.deliveries.releaseLeases(ids).catch(() => undefined);
    }
    return offers.map(() => undefined);
  }

  /** Each job offers deliveries of one queue. */
  private jobsOf({ deliveryIds, lane, delayMs }: Offer): NewJob[] {
    return [...this.byQueue(deliveryIds)].flatMap(([, ids]) =>
      pages(ids, MAX_IDS_PER_JOB).map((page) => ({
        data: { deliveryIds: page, lane },
        // The job of one delivery, such as a retry, has its id, so that a job of the sweeper does not double it.
        opts: { delay: delayMs, ...(page.length === 1 && { jobId: page[0] }) },
      })),
    );
  }

  private async add(newJobs: readonly NewJob[]): Promise<void> {
    // By PostgreSQL's clock: a delayed job of a machine whose clock is ahead would wait too long.
    const timestamp = this.clock.now().getTime();
    const tried = await Promise.allSettled(
      this.queues.map(async (queue) => {
        const own = newJobs.filter(({ data }) => this.queueOf(data.deliveryIds[0] as string) === queue);
        const jobs = own.map(({ data, opts }) => ({ name: 'send', data, opts: { ...opts, timestamp } }));
        for (const page of pages(jobs, MAX_JOBS_PER_ADD)) await queue.addBulk(page);
        this.budget.add(own.flatMap(({ data }) => data.deliveryIds).length);
      }),
    );
    const failed = tried.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private queueOf(deliveryId: string): Queue<SendJob> {
    return this.queues[sendQueueIndex(deliveryId, this.queues.length)] as Queue<SendJob>;
  }

  private byQueue(deliveryIds: readonly string[]): Map<Queue<SendJob>, string[]> {
    const groups = new Map<Queue<SendJob>, string[]>();
    for (const id of deliveryIds) {
      const queue = this.queueOf(id);
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
