import { Injectable, Logger } from '@nestjs/common';
import { FAN_OUT_QUEUE } from '../events/fan-out.queue';
import { WorkersService } from '../queue/workers.service';
import { AttemptsService } from './attempts.service';
import type { Swept } from './deliveries.sweeper';
import { SEND_QUEUE } from './send.queue';

/** A worker that was reminded must have begun a job within this time. */
const BEGINS_WITHIN_MS = 8000;
/** Renewed reminders come every ten seconds; when they stay away for longer, somebody attends to the rows. */
const FORGIVEN_AFTER_MS = 25_000;
const MAX_REBUILDS = 3;

interface Suspicion {
  since: number;
  lastReminderAt: number;
}

/**
 * Judges the workers of this process by the truth: rows are due and are reminded of again and again, while no job begins.
 * Such workers are made anew; when that has not helped three times the process ends, for its supervisor to start it again.
 */
@Injectable()
export class WatchdogService {
  private readonly logger = new Logger('Watchdog');
  private readonly suspicions = new Map<string, Suspicion>();
  private rebuilds = 0;

  constructor(
    private readonly workers: WorkersService,
    private readonly attempts: AttemptsService,
  ) {}

  async judge({ events, deliveries }: Swept): Promise<void> {
    const fanOutIsDead = this.isDead(FAN_OUT_QUEUE, events);
    const sendIsDead = this.isDead(SEND_QUEUE, deliveries) && this.attempts.inFlight === 0;
    if (!fanOutIsDead && !sendIsDead) return;
    if (this.rebuilds === MAX_REBUILDS) {
      this.logger.fatal('Rows are due, but no job begins, and new workers have not helped: this process ends.');
      process.exit(1);
    }
    this.rebuilds += 1;
    this.logger.error('Rows are due, but no job begins: the workers are made anew.');
    this.suspicions.clear();
    await this.workers.rebuild();
  }

  private isDead(queue: string, reminders: number): boolean {
    const now = Date.now();
    const suspicion = this.suspicions.get(queue);
    const hasBegun = this.workers.lastJobAt(queue) > (suspicion?.since ?? 0);
    if (hasBegun) this.rebuilds = 0;
    if (suspicion && (hasBegun || now - suspicion.lastReminderAt > FORGIVEN_AFTER_MS)) this.suspicions.delete(queue);
    if (reminders === 0) return false;
    const since = this.suspicions.get(queue)?.since ?? now;
    this.suspicions.set(queue, { since, lastReminderAt: now });
    return now - since > BEGINS_WITHIN_MS;
  }
}
