import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { ClockService } from '../database/clock.service';
import { QueueHealthService } from '../queue/queue-health.service';
import { QueueRoom } from '../queue/queue-room';
import { DeliveriesRepository } from './deliveries.repository';

/** The braces keep all keys of the queue in one slot of a Redis cluster. */
export const SEND_QUEUE = '{send-0}';

/** A reminder that this delivery is to be attempted. The row holds the truth. */
export interface SendJob {
  deliveryId: string;
}

const MAX_JOBS_PER_ADD = 500;
/** Two seconds' work for a fast process, and little memory: the rows hold the rest. */
const MAX_REMINDERS = 10_000;

/** Reminds the workers of deliveries. */
@Injectable()
export class SendQueue implements OnModuleInit {
  private readonly logger = new Logger('SendQueue');
  private readonly places = new QueueRoom(
    MAX_REMINDERS,
    () => this.queue.getJobCountByTypes('waiting', 'delayed'),
    () => performance.now(),
  );

  constructor(
    @InjectQueue(SEND_QUEUE) private readonly queue: Queue<SendJob>,
    private readonly health: QueueHealthService,
    private readonly clock: ClockService,
    private readonly deliveries: DeliveriesRepository,
  ) {}

  onModuleInit(): void {
    this.health.watch(this.queue);
  }

  /** How many more reminders the queue is to hold: what is due beyond that is parked. */
  get room(): number {
    return this.places.left();
  }

  /** Reminds of deliveries as far as the queue takes it; what it does not take the sweeper finds when it is due. */
  async offer(deliveryIds: readonly string[], delayMs = 0): Promise<void> {
    try {
      if (this.room < deliveryIds.length) return await this.deliveries.entrustToSweeper(deliveryIds);
      await this.remind(deliveryIds, delayMs);
    } catch (error) {
      this.logger.warn(`Deliveries are left to the sweeper, because the queue did not take them: ${String(error)}`);
      // Without this it would take the rows for attended some seconds longer.
      await this.deliveries.entrustToSweeper(deliveryIds).catch(() => undefined);
    }
  }

  /** The delivery's id is the job's: a reminder that is still known is not doubled. Throws when the queue is away. */
  async remind(deliveryIds: readonly string[], delayMs = 0): Promise<void> {
    for (let i = 0; i < deliveryIds.length; i += MAX_JOBS_PER_ADD) {
      const jobs = deliveryIds.slice(i, i + MAX_JOBS_PER_ADD).map((deliveryId) => ({
        name: 'send',
        data: { deliveryId },
        // By PostgreSQL's clock: a delayed job of a machine whose clock is ahead would wait for as long.
        opts: { jobId: deliveryId, delay: delayMs, timestamp: this.clock.now().getTime() },
      }));
      await this.queue.addBulk(jobs);
      this.places.add(jobs.length);
    }
  }
}
