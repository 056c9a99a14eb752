import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { Batcher } from '../infrastructure/concurrency/batcher';
import { ClockService } from '../infrastructure/database/clock.service';
import { QueueCapacity } from '../infrastructure/queue/queue-capacity';
import { QueueHealthService } from '../infrastructure/queue/queue-health.service';
import { WaitingRowsRepository } from './rows/waiting-rows.repository';
import type { PartitionKey } from './rows/attempt';
import { CLUSTER_SEND_QUEUES, isRedisCluster } from '../infrastructure/config/redis-nodes';

/** The braces are a Redis Cluster hash tag: they keep all keys of a queue in one slot. */
const nameOf = (index: number): string => `{send-${index}}`;

/** The first send queue; the only one unless Redis is a cluster. */
export const SEND_QUEUE = nameOf(0);

/** Returns the names of the send queues: several on a Redis cluster, to spread the load across its nodes. */
export const sendQueueNames = (redisUrl: string | null): readonly string[] =>
  Array.from({ length: isRedisCluster(redisUrl) ? CLUSTER_SEND_QUEUES : 1 }, (_, i) => nameOf(i));

/** Always the same index for an id. The end of a UUIDv7 is random or a hash, so the deliveries spread evenly. */
export function sendQueueIndex(deliveryId: string, count: number): number {
  return Number.parseInt(deliveryId.slice(-8), 16) % count;
}

/** Injection token of all send queues, in the order of their names. */
export const SEND_QUEUES = Symbol('send queues');

/** A job to attempt these deliveries of one webhook. The rows are authoritative. */
export interface SendJob {
  deliveryIds: string[];
  /** The partition key. It keeps its name from 0.1, because jobs may wait through an upgrade. */
  lane: PartitionKey;
}

const MAX_JOBS_PER_ADD = 500;
/** Large enough to keep the cost per delivery low, small enough that several workers share the deliveries of one event. */
const MAX_IDS_PER_JOB = 50;
/** Capacity of the queues, in deliveries: at least a second's work. Further deliveries wait in their rows. */
const MAX_QUEUED = 10_000;

interface NewJob {
  data: SendJob;
  opts: { jobId?: string; delay?: number };
}

@Injectable()
export class SendQueue implements OnModuleInit {
  private readonly logger = new Logger(SendQueue.name);
  private readonly capacity = new QueueCapacity(
    MAX_QUEUED,
    () => this.count(),
    () => performance.now(),
  );
  /** Batches deliveries that are enqueued at the same time, such as the retries of attempts that ended together. */
  private readonly batchers: ReadonlyMap<Queue<SendJob>, Batcher<NewJob, void>>;

  constructor(
    @Inject(SEND_QUEUES) private readonly queues: readonly Queue<SendJob>[],
    private readonly health: QueueHealthService,
    private readonly clock: ClockService,
    private readonly rows: WaitingRowsRepository,
  ) {
    const batcherOf = (queue: Queue<SendJob>) =>
      new Batcher<NewJob, void>((jobs) => this.addOrRelease(queue, jobs), MAX_JOBS_PER_ADD);
    this.batchers = new Map(queues.map((queue) => [queue, batcherOf(queue)]));
  }

  onModuleInit(): void {
    for (const queue of this.queues) this.health.watch(queue);
  }

  /** Free queue capacity, in deliveries. Due deliveries beyond it are deferred. */
  get remaining(): number {
    return this.capacity.remaining();
  }

  /**
   * Enqueues deliveries of one webhook that are due in `delayMs`. Never throws because of the queue: if it is full or
   * unavailable, the deliveries are released to the sweeper, which finds them when they are due.
   */
  async enqueue(deliveryIds: readonly string[], { webhookId, userId }: PartitionKey, delayMs = 0): Promise<void> {
    const jobOf = (ids: string[]): NewJob => ({
      data: { deliveryIds: ids, lane: { webhookId, userId } },
      // The job of one delivery, such as a retry, has its id, so that a job from the sweeper does not duplicate it.
      opts: { delay: delayMs, ...(ids.length === 1 && { jobId: ids[0] }) },
    });
    const batches = [...this.byQueue(deliveryIds)].flatMap(([queue, ids]) => {
      const batcher = this.batchers.get(queue) as Batcher<NewJob, void>;
      return pages(ids, MAX_IDS_PER_JOB).map((page) => batcher.add(jobOf(page)));
    });
    await Promise.all(batches);
  }

  /**
   * Enqueues each delivery as its own job under the delivery's id: the queue ignores a job whose id it still knows. Throws when a
   * queue is unavailable, after releasing its deliveries to the sweeper.
   */
  async enqueueEach(deliveries: readonly (PartitionKey & { id: string })[]): Promise<void> {
    const keyOf = new Map(deliveries.map(({ id, webhookId, userId }) => [id, { webhookId, userId }]));
    const jobOf = (id: string) => ({
      data: { deliveryIds: [id], lane: keyOf.get(id) as PartitionKey },
      opts: { jobId: id },
    });
    const tried = await Promise.allSettled(
      [...this.byQueue([...keyOf.keys()])].map(async ([queue, ids]) => {
        try {
          for (const page of pages(ids, MAX_JOBS_PER_ADD)) await this.add(queue, page.map(jobOf));
        } catch (error) {
          await this.rows.releaseLeases(ids);
          throw error;
        }
      }),
    );
    const failed = tried.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** Removes the jobs of retries. Returns whether all queues were available; never throws because of one. */
  async forget(deliveryIds: readonly string[]): Promise<boolean> {
    let isComplete = true;
    for (const [queue, ids] of this.byQueue(deliveryIds)) {
      for (const page of pages(ids, MAX_IDS_PER_JOB)) {
        const removed = await Promise.allSettled(page.map((id) => queue.remove(id)));
        isComplete &&= removed.every(({ status }) => status === 'fulfilled');
      }
    }
    return isComplete;
  }

  countByName(deliveryIds: readonly string[]): [name: string, count: number][] {
    return [...this.byQueue(deliveryIds)].map(([{ name }, { length }]) => [name, length]);
  }

  private async addOrRelease(queue: Queue<SendJob>, jobs: readonly NewJob[]): Promise<void[]> {
    const ids = idsOf(jobs);
    try {
      if (this.remaining < ids.length) await this.rows.releaseLeases(ids);
      else await this.add(queue, jobs);
    } catch (error) {
      this.logger.warn(`Enqueuing deliveries failed; the sweeper will enqueue them: ${String(error)}`);
      // Otherwise the sweeper would wait until the lease of a job that does not exist has expired.
      await this.rows.releaseLeases(ids).catch(() => undefined);
    }
    return jobs.map(() => undefined);
  }

  private async add(queue: Queue<SendJob>, jobs: readonly NewJob[]): Promise<void> {
    // Uses PostgreSQL's clock: if this machine's clock were ahead, a delayed job would wait too long.
    const timestamp = this.clock.now().getTime();
    await queue.addBulk(jobs.map(({ data, opts }) => ({ name: 'send', data, opts: { ...opts, timestamp } })));
    this.capacity.add(idsOf(jobs).length);
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

  /** Counts jobs, each of which holds one or more deliveries. */
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
