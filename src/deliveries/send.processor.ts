import { setTimeout as pause } from 'node:timers/promises';
import { Processor } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { processorOptions } from '../queue/processor-options.decorator';
import { TrackedProcessor } from '../queue/tracked.processor';
import { AttemptsService } from './attempts.service';
import { DeliveriesRepository } from './deliveries.repository';
import { DispatchService } from './dispatch.service';
import { SEND_QUEUE, type SendJob } from './send.queue';

/** A job may come early by this much; earlier ones are the fault of a clock that is ahead. */
const SHORT_WAIT_MS = 1000;

/** Attends to one delivery. */
@Processor(SEND_QUEUE, processorOptions((config) => config.deliveryConcurrency))
export class SendProcessor extends TrackedProcessor<SendJob> {
  constructor(
    private readonly attempts: AttemptsService,
    private readonly deliveries: DeliveriesRepository,
    private readonly dispatch: DispatchService,
  ) {
    super();
  }

  protected override async handle(job: Job<SendJob>): Promise<void> {
    const delivery = await this.attempts.load(job.data.deliveryId);
    if (delivery?.status !== 'pending') return;
    if (delivery.dueInMs > SHORT_WAIT_MS) return this.deliveries.entrustToSweeper([delivery.id]);
    if (delivery.dueInMs > 0) {
      await pause(delivery.dueInMs);
      return this.handle(job);
    }
    return this.dispatch.dispatch(delivery);
  }
}
