import { Processor } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { FAN_OUT_QUEUE, type FanOutJob } from '../../events/fan-out.queue';
import { processorOptions } from '../../plumbing/queue/processor-options.decorator';
import { TrackedProcessor } from '../../plumbing/queue/tracked.processor';
import { FanOutService } from './fan-out.service';

/** A job lasts until its deliveries have rows, up to two seconds. `FanOutService` bounds the events. */
const CONCURRENCY = 500;

/** Fans out the events that other processes have published, and those that the sweeper has found. */
@Processor(FAN_OUT_QUEUE, processorOptions(() => CONCURRENCY))
export class FanOutProcessor extends TrackedProcessor<FanOutJob> {
  constructor(private readonly fanOut: FanOutService) {
    super();
  }

  protected override handle(job: Job<FanOutJob>): Promise<void> {
    return this.fanOut.fanOutAll(job.data.eventIds);
  }
}
