import { Injectable, Logger } from '@nestjs/common';
import { TrackedProcessor } from '../../plumbing/queue/tracked.processor';
import { WorkersService } from '../../plumbing/queue/workers.service';
import type { Swept } from './sweeper.service';

/** A worker whose queue got offers must begin a job within this time. */
const BEGINS_WITHIN_MS = 8000;
/** The sweeper repeats an offer after 10 to 14 s. When no offer comes for this long, the rows are being worked on. */
const FORGIVEN_AFTER_MS = 25_000;
const MAX_REBUILDS = 3;

/** A worker whose queue gets offers while no job begins. Times are in ms since 1970. */
interface Suspicion {
  since: number;
  lastOfferAt: number;
}

/**
 * Judges the workers of this process by the rows. Workers are dead when rows are due and the sweeper offers them again
 * and again, but no job begins. Dead workers are replaced. When three replacements in a row have not helped, the
 * process ends, so that its supervisor starts it again.
 */
@Injectable()
export class WatchdogService {
  private readonly logger = new Logger('Watchdog');
  private readonly suspicions = new Map<TrackedProcessor<unknown>, Suspicion>();
  private rebuilds = 0;
  private rebuiltAt = 0;

  constructor(private readonly workers: WorkersService) {}

  /**
   * Judges the workers after a sweep and replaces them all when one is dead. ENDS THE PROCESS, with exit code 1, when
   * three replacements in a row have not helped.
   */
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

  private isDead(processor: TrackedProcessor<unknown>, offers: number): boolean {
    const now = Date.now();
    const known = this.suspicions.get(processor);
    const hasBegun = processor.lastBegunAt > (known?.since ?? 0);
    if (processor.lastBegunAt > this.rebuiltAt) this.rebuilds = 0;
    if (known && (hasBegun || now - known.lastOfferAt > FORGIVEN_AFTER_MS)) this.suspicions.delete(processor);
    if (offers === 0 || processor.inFlight > 0) return false;
    const since = this.suspicions.get(processor)?.since ?? now;
    this.suspicions.set(processor, { since, lastOfferAt: now });
    return now - since > BEGINS_WITHIN_MS;
  }
}
