import { Processor } from '@nestjs/bullmq';
import type { Type } from '@nestjs/common';
import type { Job } from 'bullmq';
import { processorOptions } from '../../infrastructure/queue/processor-options.decorator';
import { TrackedProcessor } from '../../infrastructure/queue/tracked.processor';
import { SEND_QUEUE, type SendJob } from '../send.queue';
import { DispatchService } from './dispatch.service';

const SEND_OPTIONS = processorOptions(({ deliveryConcurrency }) => deliveryConcurrency);

/** Attempts the deliveries of a job. A slow delivery delays only its own job. */
@Processor(SEND_QUEUE, SEND_OPTIONS)
export class SendProcessor extends TrackedProcessor<SendJob> {
  constructor(private readonly dispatch: DispatchService) {
    super();
  }

  protected override async handle({ data: { deliveryIds, lane } }: Job<SendJob>): Promise<void> {
    // Waits for all attempts, even when one fails: BullMQ may retry the job only when none is in flight.
    const attempted = await Promise.allSettled(deliveryIds.map((id) => this.dispatch.attemptQueued(id, lane)));
    const failed = attempted.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

/** Creates the processors of further send queues on a Redis cluster: Nest creates one worker per decorated class. */
export const clusterSendProcessors = (names: readonly string[]): Type<SendProcessor>[] =>
  names.slice(1).map((name) => {
    @Processor(name, SEND_OPTIONS)
    class ClusterSendProcessor extends SendProcessor {}
    return ClusterSendProcessor;
  });
