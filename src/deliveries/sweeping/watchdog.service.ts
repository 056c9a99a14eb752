import { Injectable, Logger } from '@nestjs/common';
import { TrackedProcessor } from '../../infrastructure/queue/tracked.processor';
import { WorkersService } from '../../infrastructure/queue/workers.service';
import type { Swept } from './sweeper.service';

/** A worker whose queue has received jobs must begin one within this time. */
const BEGINS_WITHIN_MS = 8000;
/** The sweeper enqueues a row again after 10 to 14 s. If no job comes for this long, the rows are being processed. */
const FORGIVEN_AFTER_MS = 25_000;
const MAX_REBUILDS = 3;

/** A worker that begins no job although its queue receives jobs. Times are in ms since 1970. */
interface Suspicion {
  since: number;
  lastEnqueuedAt: number;
}

/**
 * Checks whether the workers of this process handle due rows. Workers are dead when the sweeper enqueues due rows again and
 * again, but no job begins. Dead workers are replaced. When three replacements in a row have not helped, the process exits, so
 * that its supervisor restarts it.
 */
@Injectable()
export class WatchdogService {
  private readonly logger = new Logger(WatchdogService.name);
  private readonly suspicions = new Map<TrackedProcessor<unknown>, Suspicion>();
  private rebuilds = 0;
  private rebuiltAt = 0;

  constructor(private readonly workers: WorkersService) {}

  /** EXITS THE PROCESS with code 1 when three replacements in a row have not helped. */
  async check({ byQueue }: Pick<Swept, 'byQueue'>): Promise<void> {
    const dead = this.workers.processors.filter((one) => this.isDead(one, byQueue.get(one.worker.name) ?? 0));
    if (dead.length === 0) return;
    if (this.rebuilds === MAX_REBUILDS) {
      this.logger.fatal('Rows are due, but no job begins, and new workers have not helped; exiting');
      process.exit(1);
    }
    this.rebuilds += 1;
    this.rebuiltAt = Date.now();
    this.logger.error('Rows are due, but no job begins; replacing the workers');
    this.suspicions.clear();
    await this.workers.rebuild();
  }

  private isDead(processor: TrackedProcessor<unknown>, enqueued: number): boolean {
    const now = Date.now();
    const known = this.suspicions.get(processor);
    const hasBegun = processor.lastBegunAt > (known?.since ?? 0);
    if (processor.lastBegunAt > this.rebuiltAt) this.rebuilds = 0;
    if (known && (hasBegun || now - known.lastEnqueuedAt > FORGIVEN_AFTER_MS)) this.suspicions.delete(processor);
    if (enqueued === 0 || processor.inFlight > 0) return false;
    const since = this.suspicions.get(processor)?.since ?? now;
    this.suspicions.set(processor, { since, lastEnqueuedAt: now });
    return now - since > BEGINS_WITHIN_MS;
  }
}
