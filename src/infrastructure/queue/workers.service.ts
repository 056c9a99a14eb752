import { setTimeout as pause } from 'node:timers/promises';
import { BullRegistrar } from '@nestjs/bullmq';
import { Injectable, Logger } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Worker } from 'bullmq';
import type { Counter } from 'prom-client';
import { Config } from '../config/config';
import { MetricsService } from '../metrics/metrics.service';
import { fillProcessorOptions } from './processor-options.decorator';
import { RepeatFilter } from './repeat-filter';
import { TrackedProcessor } from './tracked.processor';
import { type WorkerTask, WorkerTasksService } from './worker-tasks.service';

export const STALE_REASONS = ['missing_lock', 'lock_mismatch', 'missing_key'] as const;

const BEGINNINGS: Record<(typeof STALE_REASONS)[number], string> = {
  missing_lock: 'Missing lock for job ',
  lock_mismatch: 'Lock mismatch for job ',
  missing_key: 'Missing key for job ',
};

/**
 * Returns the reason when a worker's error says that its job is stale: the lock expired during processing, so that the
 * job went to another worker or is gone. That is harmless, because a job is only a hint and the row decides. Returns
 * null for every other error. The texts are those of BullMQ 6.7.
 */
export function staleReason({ message }: Error): (typeof STALE_REASONS)[number] | null {
  return STALE_REASONS.find((reason) => message.startsWith(BEGINNINGS[reason])) ?? null;
}

/** Time an attempt may take after the delivery deadline, to read the rest of a body and to write the outcome. */
const AFTER_DEADLINE_MS = 2000;
const CLOSE_WITHIN_MS = 2000;
const POLL_INTERVAL_MS = 20;
/** Time a queue may take to record that a job has ended. An unavailable queue never records it. */
const NOTED_WITHIN_MS = 1000;

@Injectable()
export class WorkersService implements WorkerTask {
  private readonly logger = new Logger(WorkersService.name);
  private readonly errors = new RepeatFilter();
  private readonly stale: Counter<'reason'>;
  /** The processors of this process; empty before `start`. */
  processors: readonly TrackedProcessor<unknown>[] = [];
  private otherWork = 0;
  private stopped?: Promise<void>;

  constructor(
    private readonly config: Config,
    private readonly registrar: BullRegistrar,
    private readonly discovery: DiscoveryService,
    tasks: WorkerTasksService,
    metrics: MetricsService,
  ) {
    tasks.add(this);
    const help = 'Jobs that another worker had taken over, or that were gone, when their work was done.';
    this.stale = metrics.counterBy('webhooks_queue_stale_jobs_total', help, 'reason', STALE_REASONS);
  }

  start(): void {
    fillProcessorOptions(this.config);
    this.registrar.register();
    this.processors = this.discovery
      .getProviders()
      .map(({ instance }) => instance as unknown)
      .filter((instance) => instance instanceof TrackedProcessor);
    for (const worker of this.workers()) worker.on('error', (error) => this.report(worker, error));
  }

  /** Replaces workers that have stopped working. Their current jobs end by themselves. */
  async rebuild(): Promise<void> {
    const old = this.workers();
    this.start();
    await within(CLOSE_WITHIN_MS, Promise.all(old.map((worker) => worker.close(true))));
  }

  /** Runs work that has no job; `stop` waits for it as for a job. Rejects with the error of `work`. */
  async during(work: () => Promise<void>): Promise<void> {
    this.otherWork += 1;
    try {
      await work();
    } finally {
      this.otherWork -= 1;
    }
  }

  /** Accepts no new jobs, gives jobs in flight the time of an attempt, and closes. Never throws, never hangs. */
  stop(): Promise<void> {
    return (this.stopped ??= this.drain());
  }

  private async drain(): Promise<void> {
    const withinMs = this.config.deliveryTimeoutMs + AFTER_DEADLINE_MS;
    const workers = this.workers();
    const paused = Promise.race([Promise.all(workers.map((worker) => worker.pause())), this.idle()]);
    await within(withinMs, Promise.all([paused, this.otherWorkEnded()]));
    // A plain close() would wait for a store that may be unavailable. The jobs in flight have had their time.
    await within(CLOSE_WITHIN_MS, Promise.all(workers.map((worker) => worker.close(true))));
  }

  /** Resolves when no job has been in flight for a second. While the queue is unavailable, `pause()` does not detect that. */
  private async idle(): Promise<void> {
    for (let idleMs = 0; idleMs < NOTED_WITHIN_MS; idleMs += POLL_INTERVAL_MS) {
      await pause(POLL_INTERVAL_MS);
      if (this.processors.some(({ inFlight }) => inFlight > 0)) idleMs = 0;
    }
  }

  private async otherWorkEnded(): Promise<void> {
    while (this.otherWork > 0) await pause(POLL_INTERVAL_MS);
  }

  private workers(): Worker[] {
    return this.processors.map((processor) => processor.worker as Worker);
  }

  private report(worker: Worker, error: Error): void {
    const reason = staleReason(error);
    if (reason) return this.stale.inc({ reason });
    const text = `The worker of ${worker.name} reported an error: ${error.message}`;
    if (this.errors.isNews(text, Date.now())) this.logger.warn(text);
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const timeout = new AbortController();
  const tooLate = pause(ms, undefined, { signal: timeout.signal }).catch(() => undefined);
  await Promise.race([work.catch(() => undefined), tooLate]);
  timeout.abort();
}
