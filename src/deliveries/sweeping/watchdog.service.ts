import { Injectable, Logger } from '@nestjs/common';
import { TrackedProcessor } from '../../plumbing/queue/tracked.processor';
import { WorkersService } from '../../plumbing/queue/workers.service';
import type { Swept } from './sweeper.service';

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
  private readonly suspicions = new Map<TrackedProcessor<unknown>, Suspicion>();
  private rebuilds = 0;
  private rebuiltAt = 0;

  constructor(private readonly workers: WorkersService) {}

  async judge({ byQueue }: Pick<Swept, 'byQueue'>): Promise<void> {
    const dead = this.workers.processors.filter((one) => this.isDead(one, byQueue.get(one.worker.name) ?? 0));
    if (dead.length === 0) return;
    if (this.rebuilds === MAX_REBUILDS) {
      this.logger.fatal('Rows are due, but no job begins, and new workers have not helped: this process ends.');
      process.exit(1);
    }
    this.rebuilds += 1;
    this.rebuiltAt = Date.now();
    this.logger.error('Rows are due, but no job begins: the workers are made anew.');
    this.suspicions.clear();
    await this.workers.rebuild();
  }

  private isDead(processor: TrackedProcessor<unknown>, reminders: number): boolean {
    const now = Date.now();
    const known = this.suspicions.get(processor);
    const hasBegun = processor.lastBegunAt > (known?.since ?? 0);
    if (processor.lastBegunAt > this.rebuiltAt) this.rebuilds = 0;
    if (known && (hasBegun || now - known.lastReminderAt > FORGIVEN_AFTER_MS)) this.suspicions.delete(processor);
    if (reminders === 0 || processor.inFlight > 0) return false;
    const since = this.suspicions.get(processor)?.since ?? now;
    this.suspicions.set(processor, { since, lastReminderAt: now });
    return now - since > BEGINS_WITHIN_MS;
  }
}
