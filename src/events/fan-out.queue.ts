import { setImmediate as nextTurn } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { lingerFor } from '../infrastructure/concurrency/pauses.timer';
import { QueueCapacity } from '../infrastructure/queue/queue-capacity';
import { QueueHealthService } from '../infrastructure/queue/queue-health.service';

/** The braces are a Redis Cluster hash tag: they keep all keys of the queue in one slot. */
export const FAN_OUT_QUEUE = '{fan-out}';

/** A job to fan out these events. The rows are authoritative. */
export interface FanOutJob {
  eventIds: string[];
}

const MAX_WAITING = 10_000;
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
  private waiting: string[] = [];
  private draining = false;
  private onAdded: () => void = () => undefined;
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

  /** Calls `listener` when events arrive, before they are enqueued: it may `take` them. */
  whenAdded(listener: () => void): void {
    this.onAdded = listener;
  }

  /** Takes the first events that are not enqueued yet, at most `limit`. */
  take(limit: number): string[] {
    return this.waiting.splice(0, limit);
  }

  /** Adds events to the in-memory queue. Returns at once and never throws: events that it cannot hold are left to the sweeper. */
  add(eventIds: readonly string[]): void {
    if (eventIds.length === 0) return;
    this.waiting.push(...eventIds.slice(0, MAX_WAITING - this.waiting.length));
    this.onAdded();
    if (this.waiting.length > 0 && !this.draining) void this.drain();
  }

  /** Free queue capacity for the sweeper, in events. It does not limit publishers. */
  get remaining(): number {
    return this.capacity.remaining() * MAX_IDS_PER_JOB;
  }

  /** Enqueues events and waits until the queue has accepted them. Throws when the queue is unavailable. */
  async enqueue(eventIds: string[]): Promise<void> {
    const jobs = [];
    for (let i = 0; i < eventIds.length; i += MAX_IDS_PER_JOB) {
      jobs.push({ name: 'fan-out', data: { eventIds: eventIds.slice(i, i + MAX_IDS_PER_JOB) } });
    }
    if (jobs.length > 0) await this.queue.addBulk(jobs);
    this.capacity.add(jobs.length);
  }

  private async drain(): Promise<void> {
    this.draining = true;
    // Events that were committed together arrive one by one, and belong in one job.
    await nextTurn();
    while (this.waiting.length > 0) {
      const lingered = LINGER();
      const eventIds = this.take(MAX_IDS_PER_JOB);
      try {
        await this.enqueue(eventIds);
      } catch (error) {
        this.logger.warn(`Enqueuing ${eventIds.length} events failed; the sweeper will retry: ${String(error)}`);
      }
      await lingered(eventIds.length, () => this.waiting.length);
    }
    this.draining = false;
  }
}
