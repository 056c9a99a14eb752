import { Processor } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { FAN_OUT_QUEUE, type FanOutJob } from '../../events/fan-out.queue';
import { processorOptions } from '../../infrastructure/queue/processor-options.decorator';
import { TrackedProcessor } from '../../infrastructure/queue/tracked.processor';
import { FanOutService } from './fan-out.service';

/** A job runs until its deliveries have rows, up to two seconds. `FanOutService` limits the number of events. */
const CONCURRENCY = 500;

/** Fans out events that other processes have published or that the sweeper has found. */
@Processor(FAN_OUT_QUEUE, processorOptions(() => CONCURRENCY))
export class FanOutProcessor extends TrackedProcessor<FanOutJob> {
  constructor(private readonly fanOut: FanOutService) {
    super();
  }

  protected override handle(job: Job<FanOutJob>): Promise<void> {
    return this.fanOut.fanOutAll(job.data.eventIds);
  }
}
