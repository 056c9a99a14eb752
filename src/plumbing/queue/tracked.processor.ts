import { WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';

/** A processor that counts the jobs it holds, and knows when it last began one. */
export abstract class TrackedProcessor<Data> extends WorkerHost {
  /** Jobs that this processor holds. */
  inFlight = 0;
  /** When it last began a job, in ms since 1970; 0: never. */
  lastBegunAt = 0;

  /** Counts a job of BullMQ while `handle` does it. Throws what `handle` throws. */
  override async process(job: Job<Data>, token?: string): Promise<void> {
    this.inFlight += 1;
    this.lastBegunAt = Date.now();
    try {
      await this.handle(job, token);
    } finally {
      this.inFlight -= 1;
    }
  }

  /** Does a job. Throws only when the infrastructure fails; BullMQ repeats the job then. */
  protected abstract handle(job: Job<Data>, token?: string): Promise<void>;
}
