import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { ClockService } from '../plumbing/database/clock.service';
import { QueueHealthService } from '../plumbing/queue/queue-health.service';
import { QueueRoom } from '../plumbing/queue/queue-budget';
import { DeliveriesRepository } from './deliveries.repository';
import { sendQueueIndex } from './send-queue-names';

/** The token of all send queues there are, in the order of their names. */
export const SEND_QUEUES = Symbol('send queues');

/** A reminder that these deliveries are to be attempted. The rows hold the truth. */
export interface SendJob {
  deliveryIds: string[];
  /** When they are due, in ms since 1970 by PostgreSQL's clock; left out by the sweeper. A later reminder takes its place. */
  dueAt?: number;
}

const MAX_JOBS_PER_ADD = 500;
/** Large enough that a job costs little of each delivery, small enough that several workers share an event's. */
const MAX_IDS_PER_JOB = 50;
/** Jobs that the queues hold, and deliveries added between two counts of them: a second's work or more. The rows hold the rest. */
const MAX_REMINDERS = 10_000;

interface Reminder {
  data: SendJob;
  opts?: { jobId?: string; delay?: number };
}

/** Reminds the workers of deliveries. */
@Injectable()
export class SendQueue implements OnModuleInit {
  private readonly logger = new Logger('SendQueue');
  private readonly places = new QueueRoom(
    MAX_REMINDERS,
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

  /** How many more deliveries the queues have room for: what is due beyond that is parked. */
  get room(): number {
    return this.places.left();
  }

  /** Reminds of deliveries as far as the queue takes it; what it does not take the sweeper finds when it is due. */
  async offer(deliveryIds: readonly string[], delayMs = 0): Promise<void> {
    try {
      if (this.room < deliveryIds.length) return await this.deliveries.entrustToSweeper(deliveryIds);
      const dueAt = this.clock.now().getTime() + delayMs;
      await this.add(deliveryIds, (ids) =>
        pages(ids, MAX_IDS_PER_JOB).map((page) => ({
          data: { deliveryIds: page, dueAt },
          // A job of one delivery, such as a retry, has its id: the sweeper's job for the same does not double it.
          opts: { delay: delayMs, ...(page.length === 1 && { jobId: page[0] }) },
        })),
      );
    } catch (error) {
      this.logger.warn(`Deliveries are left to the sweeper, because the queue did not take them: ${String(error)}`);
      // Without this it would take the rows for attended some seconds longer.
      await this.deliveries.entrustToSweeper(deliveryIds).catch(() => undefined);
    }
  }

  /**
   * Reminds of each by a job of its own, whose id is the delivery's: one that is still known is not doubled. Throws when a
   * queue is away, and then the others have been given theirs.
   */
  async remind(deliveryIds: readonly string[]): Promise<void> {
    await this.add(deliveryIds, (ids) => ids.map((id) => ({ data: { deliveryIds: [id] }, opts: { jobId: id } })));
  }

  /** How many of the deliveries each queue reminds of, by its name. */
  countByName(deliveryIds: readonly string[]): [name: string, count: number][] {
    return [...this.byQueue(deliveryIds)].map(([{ name }, { length }]) => [name, length]);
  }

  private async add(deliveryIds: readonly string[], remindersOf: (ids: string[]) => Reminder[]): Promise<void> {
    // By PostgreSQL's clock: a delayed job of a machine whose clock is ahead would wait for as long.
    const timestamp = this.clock.now().getTime();
    const tried = await Promise.allSettled(
      [...this.byQueue(deliveryIds)].map(async ([queue, ids]) => {
        const jobs = remindersOf(ids).map(({ data, opts }) => ({ name: 'send', data, opts: { ...opts, timestamp } }));
        for (const page of pages(jobs, MAX_JOBS_PER_ADD)) await queue.addBulk(page);
        this.places.add(ids.length);
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

  /** Jobs, each of which reminds of one delivery or of some. */
  private async count(): Promise<number> {
    const counts = await Promise.all(this.queues.map((queue) => queue.getJobCountByTypes('waiting', 'delayed')));
    return counts.reduce((sum, count) => sum + count, 0);
  }
}

function pages<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
