import { WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';

/** A processor that counts its current jobs and records when it last started one. */
export abstract class TrackedProcessor<Data> extends WorkerHost {
  inFlight = 0;
  /** Time at which it last started a job, in ms since 1970; 0: never. */
  lastBegunAt = 0;

  override async process(job: Job<Data>, token?: string): Promise<void> {
    this.inFlight += 1;
    this.lastBegunAt = Date.now();
    try {
      await this.handle(job, token);
    } finally {
      this.inFlight -= 1;
    }
  }

  /** Processes a job. Throws only when the infrastructure fails; BullMQ then retries the job. */
  protected abstract handle(job: Job<Data>, token?: string): Promise<void>;
}
