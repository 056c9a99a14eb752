import { setImmediate as nextTurn } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { gatherFor } from '../plumbing/database/gathering.timer';
import { QueueHealthService } from '../plumbing/queue/queue-health.service';

/** The braces keep all keys of the queue in one slot of a Redis cluster. */
export const FAN_OUT_QUEUE = '{fan-out}';

/** A reminder that these events have to be fanned out. The rows hold the truth. */
export interface FanOutJob {
  eventIds: string[];
}

/** Fans events out in this process, or answers false. */
type Take = (eventIds: readonly string[]) => boolean;

const MAX_WAITING = 10_000;
const MAX_IDS_PER_JOB = 100;
/** Under load fewer jobs remind of more events each; one that comes alone does not wait. */
const GATHERING = gatherFor({ quietMs: 5, withinMs: 20, enough: MAX_IDS_PER_JOB });

/**
 * Hands events on to the fan-out without ever making a publisher wait. What the queue does not take, or what would
 * pile up here, is left to the sweeper.
 */
@Injectable()
export class FanOutQueue implements OnModuleInit {
  private readonly logger = new Logger('FanOutQueue');
  private waiting: string[] = [];
  private handingOn = false;
  private take: Take | null = null;

  constructor(
    @InjectQueue(FAN_OUT_QUEUE) private readonly queue: Queue<FanOutJob>,
    private readonly health: QueueHealthService,
  ) {}

  onModuleInit(): void {
    this.health.watch(this.queue);
  }

  /** Whom events are offered before they go on the queue: a worker in the same process. */
  divert(take: Take | null): void {
    this.take = take;
  }

  handOn(eventIds: readonly string[]): void {
    if (eventIds.length === 0 || this.take?.(eventIds)) return;
    this.waiting.push(...eventIds.slice(0, MAX_WAITING - this.waiting.length));
    if (!this.handingOn) void this.drain();
  }

  /** Reminds of events and waits until the queue has taken it. Throws when the queue is away. */
  async remind(eventIds: string[]): Promise<void> {
    const jobs = [];
    for (let i = 0; i < eventIds.length; i += MAX_IDS_PER_JOB) {
      jobs.push({ name: 'fan-out', data: { eventIds: eventIds.slice(i, i + MAX_IDS_PER_JOB) } });
    }
    await this.queue.addBulk(jobs);
  }

  private async drain(): Promise<void> {
    this.handingOn = true;
    // What was committed together is handed on one by one, and belongs in one job.
    await nextTurn();
    while (this.waiting.length > 0) {
      const gathered = GATHERING();
      const eventIds = this.waiting.splice(0, MAX_IDS_PER_JOB);
      try {
        await this.remind(eventIds);
      } catch (error) {
        this.logger.warn(`${eventIds.length} events are left to the sweeper: ${String(error)}`);
      }
      if (eventIds.length > 1) await gathered(() => this.waiting.length);
    }
    this.handingOn = false;
  }
}
