import { setImmediate as nextTurn } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { gatherFor } from '../plumbing/database/gathering.timer';
import { QueueBudget } from '../plumbing/queue/queue-budget';
import { QueueHealthService } from '../plumbing/queue/queue-health.service';

/** The braces keep all keys of the queue in one slot of a Redis cluster. */
export const FAN_OUT_QUEUE = '{fan-out}';

/** An offer to fan out these events. The rows hold the truth. */
export interface FanOutJob {
  eventIds: string[];
}

const MAX_WAITING = 10_000;
const MAX_IDS_PER_JOB = 100;
/** What the sweeper lets wait on the queue: at least the work of a second. The rows hold the rest. */
const MAX_OFFERED_JOBS = 100;
/** Under load fewer jobs offer more events each. Events that come one by one do not wait. */
const GATHERING = gatherFor({ unlessAbove: 16, quietMs: 5, withinMs: 20, enough: MAX_IDS_PER_JOB });

/**
 * Offers events to the fan-out without ever making a publisher wait. A worker in the same process may take them first; the
 * others become jobs. What the queue does not take, or what would pile up here, is left to the sweeper.
 */
@Injectable()
export class FanOutQueue implements OnModuleInit {
  private readonly logger = new Logger('FanOutQueue');
  private waiting: string[] = [];
  private draining = false;
  private onOffered: () => void = () => undefined;
  private readonly budget = new QueueBudget(
    MAX_OFFERED_JOBS,
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

  /** Calls `listener` when events are offered, before they go on the queue: it may `take` them. */
  whenOffered(listener: () => void): void {
    this.onOffered = listener;
  }

  /** Takes events that were offered and are not on the queue yet, the first ones, at most `limit`. */
  take(limit: number): string[] {
    return this.waiting.splice(0, limit);
  }

  /** Offers events. Returns at once and never throws: what is not taken is left to the sweeper. */
  offer(eventIds: readonly string[]): void {
    if (eventIds.length === 0) return;
    this.waiting.push(...eventIds.slice(0, MAX_WAITING - this.waiting.length));
    this.onOffered();
    if (this.waiting.length > 0 && !this.draining) void this.drain();
  }

  /** How many more events the sweeper may put on the queue. Those of publishers do not ask. */
  get remaining(): number {
    return this.budget.remaining() * MAX_IDS_PER_JOB;
  }

  /** Puts events on the queue and waits until it has taken them. Throws when the queue is away. */
  async enqueue(eventIds: string[]): Promise<void> {
    const jobs = [];
    for (let i = 0; i < eventIds.length; i += MAX_IDS_PER_JOB) {
      jobs.push({ name: 'fan-out', data: { eventIds: eventIds.slice(i, i + MAX_IDS_PER_JOB) } });
    }
    if (jobs.length > 0) await this.queue.addBulk(jobs);
    this.budget.add(jobs.length);
  }

  private async drain(): Promise<void> {
    this.draining = true;
    // What was committed together is offered one by one, and belongs in one job.
    await nextTurn();
    while (this.waiting.length > 0) {
      const gathered = GATHERING();
      const eventIds = this.take(MAX_IDS_PER_JOB);
      try {
        await this.enqueue(eventIds);
      } catch (error) {
        this.logger.warn(`${eventIds.length} events are left to the sweeper: ${String(error)}`);
      }
      await gathered(eventIds.length, () => this.waiting.length);
    }
    this.draining = false;
  }
}
