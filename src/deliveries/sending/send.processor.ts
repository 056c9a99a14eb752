import { Processor } from '@nestjs/bullmq';
import { Injectable, type Type } from '@nestjs/common';
import type { Job } from 'bullmq';
import { processorOptions } from '../../plumbing/queue/processor-options.decorator';
import { TrackedProcessor } from '../../plumbing/queue/tracked.processor';
import type { SendJob } from '../send.queue';
import { ALL_SEND_QUEUES } from '../send-queue-names';
import { DispatchService } from './dispatch.service';

/** Attempts the deliveries that a job offers. A slow one keeps its job waiting, and nothing else. */
@Injectable()
export class SendProcessor extends TrackedProcessor<SendJob> {
  constructor(private readonly dispatch: DispatchService) {
    super();
  }

  protected override async handle({ data: { deliveryIds, lane } }: Job<SendJob>): Promise<void> {
    // Waits for all of them, also when one fails: BullMQ may repeat the job only when none is under way any more.
    const attempted = await Promise.allSettled(deliveryIds.map((id) => this.dispatch.attemptOffered(id, lane)));
    const failed = attempted.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

/** One for each send queue, because Nest makes a worker of a decorated class. They share the slots of the process. */
const PROCESSORS: readonly Type<SendProcessor>[] = ALL_SEND_QUEUES.map((name) => {
  class QueueSendProcessor extends SendProcessor {}
  Processor(
    name,
    processorOptions(({ deliveryConcurrency }) => deliveryConcurrency),
  )(QueueSendProcessor);
  return QueueSendProcessor;
});

/** The processors of the first `count` send queues. */
export const sendProcessors = (count: number): readonly Type<SendProcessor>[] => PROCESSORS.slice(0, count);
