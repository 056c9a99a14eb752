import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { ClockService } from '../database/clock.service';
import { QueueHealthService } from '../queue/queue-health.service';
import { DeliveriesRepository } from './deliveries.repository';
import { sendQueueIndex } from './send-queues';

/** The token of all send queues there are, in the order of their names. */
export const SEND_QUEUES = Symbol('send queues');

/** A reminder that this delivery is to be attempted. The row holds the truth. */
export interface SendJob {
  deliveryId: string;
}

const MAX_JOBS_PER_ADD = 500;

/** Reminds the workers of deliveries. */
@Injectable()
export class SendQueue implements OnModuleInit {
  private readonly logger = new Logger('SendQueue');

  constructor(
    @Inject(SEND_QUEUES) private readonly queues: readonly Queue<SendJob>[],
    private readonly health: QueueHealthService,
    private readonly clock: ClockService,
    private readonly deliveries: DeliveriesRepository,
  ) {}

  onModuleInit(): void {
    for (const queue of this.queues) this.health.watch(queue);
  }

  /** Reminds of deliveries as far as the queue takes it; what it does not take the sweeper finds when it is due. */
  async offer(deliveryIds: readonly string[], delayMs = 0): Promise<void> {
    try {
      await this.remind(deliveryIds, delayMs);
    } catch (error) {
      this.logger.warn(`Deliveries are left to the sweeper, because the queue did not take them: ${String(error)}`);
      // Without this it would take the rows for attended some seconds longer.
      await this.deliveries.entrustToSweeper(deliveryIds).catch(() => undefined);
    }
  }

  /**
   * The delivery's id is the job's: a reminder that is still known is not doubled. Throws when a queue is away, and then
   * the others have been given theirs.
   */
  async remind(deliveryIds: readonly string[], delayMs = 0): Promise<void> {
    const tried = await Promise.allSettled(
      [...this.byQueue(deliveryIds)].map(([queue, ids]) => this.add(queue, ids, delayMs)),
    );
    const failed = tried.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** The names of all send queues. */
  get names(): string[] {
    return this.queues.map(({ name }) => name);
  }

  /** How many of the deliveries each queue reminds of, by its name. */
  countByName(deliveryIds: readonly string[]): [name: string, count: number][] {
    return [...this.byQueue(deliveryIds)].map(([{ name }, { length }]) => [name, length]);
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

  private async add(queue: Queue<SendJob>, deliveryIds: readonly string[], delayMs: number): Promise<void> {
    for (let i = 0; i < deliveryIds.length; i += MAX_JOBS_PER_ADD) {
      const jobs = deliveryIds.slice(i, i + MAX_JOBS_PER_ADD).map((deliveryId) => ({
        name: 'send',
        data: { deliveryId },
        // By PostgreSQL's clock: a delayed job of a machine whose clock is ahead would wait for as long.
        opts: { jobId: deliveryId, delay: delayMs, timestamp: this.clock.now().getTime() },
      }));
      await queue.addBulk(jobs);
    }
  }
}
