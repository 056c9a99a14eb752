import { WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';

/** A processor that knows what it is doing: how many jobs it holds, and when it last began one. */
export abstract class TrackedProcessor<Data> extends WorkerHost {
  /** Jobs that this process is attending to. */
  inFlight = 0;
  /** In ms since 1970; 0: never. */
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

  /** Throws only when the infrastructure fails, and then BullMQ repeats the job. */
  protected abstract handle(job: Job<Data>, token?: string): Promise<void>;
}
