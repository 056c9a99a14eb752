import { BullRegistrar, WorkerHost } from '@nestjs/bullmq';
import { Injectable, Logger } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Worker } from 'bullmq';
import { Config } from '../config/config';
import { fillProcessorOptions } from './processor-options.decorator';

const CLOSE_WITHIN_MS = 2000;

/** Starts, replaces and drains the workers of all processors, whichever room they live in. */
@Injectable()
export class WorkersService {
  private readonly logger = new Logger('Workers');
  private workers: Worker[] = [];
  private readonly lastJobs = new Map<string, number>();

  constructor(
    private readonly config: Config,
    private readonly registrar: BullRegistrar,
    private readonly discovery: DiscoveryService,
  ) {}

  start(): void {
    fillProcessorOptions(this.config);
    this.registrar.register();
    this.workers = this.discovery
      .getProviders()
      .map(({ instance }) => instance as unknown)
      .filter((instance) => instance instanceof WorkerHost)
      .map((host) => host.worker as Worker);
    for (const worker of this.workers) this.watch(worker);
  }

  /** When a worker of this queue last began a job, in ms since 1970; 0: never. */
  lastJobAt(queue: string): number {
    return this.lastJobs.get(queue) ?? 0;
  }

  /** Replaces workers that do nothing any more. What they still hold ends by itself. */
  async rebuild(): Promise<void> {
    const old = this.workers;
    this.start();
    await within(CLOSE_WITHIN_MS, Promise.all(old.map((worker) => worker.close(true))));
  }

  /** Takes no new jobs, gives those in flight `withinMs` to finish, and closes. Never throws, never hangs. */
  async drain(withinMs: number): Promise<void> {
    await within(withinMs, Promise.all(this.workers.map((worker) => worker.pause())));
    // A plain close() would wait for a store that may be away; what is in flight has had its time.
    await within(CLOSE_WITHIN_MS, Promise.all(this.workers.map((worker) => worker.close(true))));
  }

  private watch(worker: Worker): void {
    worker.on('active', () => this.lastJobs.set(worker.name, Date.now()));
    worker.on('error', (error) => this.logger.warn(`The worker of ${worker.name} met an error: ${error.message}`));
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work.then(() => undefined).catch(() => undefined), timeout]);
  clearTimeout(timer);
}
