import { setImmediate as nextTurn } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { FairQueue } from '../infrastructure/concurrency/fair-queue';
import { lingerFor } from '../infrastructure/concurrency/pauses.timer';
import { QueueCapacity } from '../infrastructure/queue/queue-capacity';
import { QueueHealthService } from '../infrastructure/queue/queue-health.service';

/** The braces are a Redis Cluster hash tag: they keep all keys of the queue in one slot. */
export const FAN_OUT_QUEUE = '{fan-out}';

/** An event that is stored, and the user whose share its fan-out takes: of its audience, or else of its publisher. */
export interface StoredEvent {
  id: string;
  /** Empty for an application that publishes to all users. */
  userId: string;
}

/** A job to fan out these events. The rows are authoritative. */
export interface FanOutJob {
  eventIds: string[];
  /** Of each event; jobs of 0.3 have none. */
  userIds?: string[];
}

const MAX_WAITING = 20_000;
const MAX_IDS_PER_JOB = 100;
/** Queue capacity for the sweeper: at least a second's work. Further events wait in their rows. */
const MAX_QUEUED_JOBS = 100;
/** Under load, fewer jobs hold more events each. Events that come one by one do not wait. */
const LINGER = lingerFor({ unlessAbove: 16, quietMs: 5, withinMs: 20, enough: MAX_IDS_PER_JOB });

/**
 * Enqueues events for the fan-out without ever making a publisher wait. A worker in the same process may take them first; the
 * others become jobs. Events that the queue does not accept, or that would pile up here, are left to the sweeper.
 */
@Injectable()
export class FanOutQueue implements OnModuleInit {
  private readonly logger = new Logger(FanOutQueue.name);
  private readonly waiting = new FairQueue<StoredEvent>(MAX_WAITING);
  private draining = false;
  private isTaken: (event: StoredEvent) => boolean = () => false;
  private readonly capacity = new QueueCapacity(
    MAX_QUEUED_JOBS,
    () => this.queue.getJobCountByTypes('waiting'),
    () => performance.now(),
  );

  constructor(
    @InjectQueue(FAN_OUT_QUEUE) private readonly queue: Queue<FanOutJob>,
    private readonly health: QueueHealthService,
  ) {}

  onModuleInit(): void {
    this.health.watch(this.queue);
  }

  /** Offers each new event to a worker of this process. One that `take` refuses becomes part of a job. */
  offerTo(take: (event: StoredEvent) => boolean): void {
    this.isTaken = take;
  }

  /** Adds events to the in-memory queue. Returns at once and never throws: events that it cannot hold are left to the sweeper. */
  add(events: readonly StoredEvent[]): void {
    for (const event of events) if (!this.isTaken(event)) this.waiting.add(event);
    if (this.waiting.size > 0 && !this.draining) void this.drain();
  }

  /** Free queue capacity for the sweeper, in events. It does not limit publishers. */
  get remaining(): number {
    return this.capacity.remaining() * MAX_IDS_PER_JOB;
  }

  /** Enqueues events and waits until the queue has accepted them. Throws when the queue is unavailable. */
  async enqueue(events: readonly StoredEvent[]): Promise<void> {
    const jobs = [];
    for (let i = 0; i < events.length; i += MAX_IDS_PER_JOB) {
      const some = events.slice(i, i + MAX_IDS_PER_JOB);
      const data = { eventIds: some.map(({ id }) => id), userIds: some.map(({ userId }) => userId) };
      jobs.push({ name: 'fan-out', data });
    }
    if (jobs.length > 0) await this.queue.addBulk(jobs);
    this.capacity.add(jobs.length);
  }

  private async drain(): Promise<void> {
    this.draining = true;
    // Events that were committed together arrive one by one, and belong in one job.
    await nextTurn();
    while (this.waiting.size > 0) {
      const lingered = LINGER();
      const events = this.waiting.take(MAX_IDS_PER_JOB);
      try {
        await this.enqueue(events);
      } catch (error) {
        this.logger.warn(`Enqueuing ${events.length} events failed; the sweeper will retry: ${String(error)}`);
      }
      await lingered(events.length, () => this.waiting.size);
    }
    this.draining = false;
  }
}
