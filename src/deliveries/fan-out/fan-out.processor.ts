import { Processor } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { FAN_OUT_QUEUE, type FanOutJob } from '../../events/fan-out.queue';
import { processorOptions } from '../../infrastructure/queue/processor-options.decorator';
import { TrackedProcessor } from '../../infrastructure/queue/tracked.processor';
import { FanOutService } from './fan-out.service';

/** A job ends at once: its events wait in memory, and their rows are authoritative. */
const CONCURRENCY = 100;

/** Fans out events that other processes have published or that the sweeper has found. */
@Processor(FAN_OUT_QUEUE, processorOptions(() => CONCURRENCY))
export class FanOutProcessor extends TrackedProcessor<FanOutJob> {
  constructor(private readonly fanOut: FanOutService) {
    super();
  }

  protected override async handle({ data: { eventIds, userIds } }: Job<FanOutJob>): Promise<void> {
    for (const [i, id] of eventIds.entries()) void this.fanOut.add({ id, userId: userIds?.[i] ?? '' });
  }
}
