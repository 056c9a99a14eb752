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
  /** What is offered at the same time, such as the retries of attempts that ended together, is added together. */
  private readonly offers: ReadonlyMap<Queue<SendJob>, Batcher<NewJob, void>>;

  constructor(
    @Inject(SEND_QUEUES) private readonly queues: readonly Queue<SendJob>[],
    private readonly health: QueueHealthService,
    private readonly clock: ClockService,
    private readonly deliveries: DeliveriesRepository,
  ) {
    const batcherOf = (queue: Queue<SendJob>) =>
      new Batcher<NewJob, void>((jobs) => this.addOrRelease(queue, jobs), MAX_JOBS_PER_ADD);
    this.offers = new Map(queues.map((queue) => [queue, batcherOf(queue)]));
  }

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
    const jobOf = (ids: string[]): NewJob => ({
      data: { deliveryIds: ids, lane: { webhookId, userId } },
      // The job of one delivery, such as a retry, has its id, so that a job of the sweeper does not double it.
      opts: { delay: delayMs, ...(ids.length === 1 && { jobId: ids[0] }) },
    });
    const offered = [...this.byQueue(deliveryIds)].flatMap(([queue, ids]) => {
      const offers = this.offers.get(queue) as Batcher<NewJob, void>;
      return pages(ids, MAX_IDS_PER_JOB).map((page) => offers.add(jobOf(page)));
    });
    await Promise.all(offered);
  }

  /**
   * Queues each delivery as a job of its own, whose id is the delivery's: the queue ignores a job whose id it
   * still knows. Throws when a queue is away: its deliveries are released to the sweeper.
   */
  async enqueue(deliveries: readonly (Lane & { id: string })[]): Promise<void> {
    const laneOf = new Map(deliveries.map(({ id, webhookId, userId }) => [id, { webhookId, userId }]));
    const jobOf = (id: string) => ({ data: { deliveryIds: [id], lane: laneOf.get(id) as Lane }, opts: { jobId: id } });
    const tried = await Promise.allSettled(
      [...this.byQueue([...laneOf.keys()])].map(async ([queue, ids]) => {
        try {
          for (const page of pages(ids, MAX_JOBS_PER_ADD)) await this.add(queue, page.map(jobOf));
        } catch (error) {
          await this.deliveries.releaseLeases(ids);
          throw error;
        }
      }),
    );
    const failed = tried.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** Removes the jobs of retries, as far as the queues have them. Never throws because of a queue. */
  async forget(deliveryIds: readonly string[]): Promise<void> {
    for (const [queue, ids] of this.byQueue(deliveryIds)) {
      for (const page of pages(ids, MAX_IDS_PER_JOB)) await Promise.allSettled(page.map((id) => queue.remove(id)));
    }
  }

  /** How many of the deliveries belong to each queue, by its name. */
  countByName(deliveryIds: readonly string[]): [name: string, count: number][] {
    return [...this.byQueue(deliveryIds)].map(([{ name }, { length }]) => [name, length]);
  }

  private async addOrRelease(queue: Queue<SendJob>, jobs: readonly NewJob[]): Promise<void[]> {
    const ids = idsOf(jobs);
    try {
      if (this.remaining < ids.length) await this.deliveries.releaseLeases(ids);
      else await this.add(queue, jobs);
    } catch (error) {
      this.logger.warn(`Deliveries are left to the sweeper, because the queue did not take them: ${String(error)}`);
      // Without this the sweeper would wait until the lease of a job that does not exist has expired.
      await this.deliveries.releaseLeases(ids).catch(() => undefined);
    }
    return jobs.map(() => undefined);
  }

  private async add(queue: Queue<SendJob>, jobs: readonly NewJob[]): Promise<void> {
    // By PostgreSQL's clock: a delayed job of a machine whose clock is ahead would wait too long.
    const timestamp = this.clock.now().getTime();
    await queue.addBulk(jobs.map(({ data, opts }) => ({ name: 'send', data, opts: { ...opts, timestamp } })));
    this.budget.add(idsOf(jobs).length);
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

function idsOf(jobs: readonly NewJob[]): string[] {
  return jobs.flatMap(({ data }) => data.deliveryIds);
}

function pages<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
