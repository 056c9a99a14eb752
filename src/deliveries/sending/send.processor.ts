import { setTimeout as pause } from 'node:timers/promises';
import { Processor } from '@nestjs/bullmq';
import { Injectable, type Type } from '@nestjs/common';
import type { Job } from 'bullmq';
import { processorOptions } from '../../plumbing/queue/processor-options.decorator';
import { TrackedProcessor } from '../../plumbing/queue/tracked.processor';
import { AttemptSlotsService } from '../slots/slots.service';
import { AttemptsService } from './attempts.service';
import { ATTENDED_MS, SAME_TIME_MS } from '../deliveries.statements';
import { DeliveriesRepository } from '../deliveries.repository';
import { DispatchService } from './dispatch.service';
import type { DueDelivery } from '../due-delivery';
import { ALL_SEND_QUEUES } from '../send-queue-names';
import type { SendJob } from '../send.queue';

/** A job may come early by this much; earlier ones are the fault of a clock that is ahead. */
const SHORT_WAIT_MS = 1000;

/** What a job says of one of its deliveries. */
interface Reminder {
  deliveryId: string;
  /** Undefined when it holds whoever saw to the row before. */
  dueAt: number | undefined;
  /** The queue takes no other for the delivery while there is this one. */
  isOnly: boolean;
}

/** Attends to the deliveries of a job. A slow one keeps the job, and nothing else, waiting. */
@Injectable()
export class SendProcessor extends TrackedProcessor<SendJob> {
  constructor(
    private readonly attempts: AttemptsService,
    private readonly deliveries: DeliveriesRepository,
    private readonly dispatch: DispatchService,
    private readonly slots: AttemptSlotsService,
  ) {
    super();
  }

  protected override async handle(job: Job<SendJob>): Promise<void> {
    const { deliveryIds, dueAt } = job.data;
    // All of them, before BullMQ may repeat the job: none is attended to twice at once.
    const attended = await Promise.allSettled(
      deliveryIds.map((id) => this.attend({ deliveryId: id, dueAt, isOnly: job.id === id })),
    );
    const failed = attended.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }

  private async attend(reminder: Reminder): Promise<void> {
    await this.slots.hands.take();
    try {
      await this.look(reminder);
    } finally {
      this.slots.hands.give();
    }
  }

  private async look(reminder: Reminder): Promise<void> {
    const delivery = await this.reload(reminder);
    if (!delivery) return;
    if (delivery.dueInMs > SHORT_WAIT_MS) return this.deliveries.entrustToSweeper([delivery.id]);
    if (delivery.dueInMs <= 0) return this.dispatch.dispatch(delivery, () => this.reload(reminder));
    await pause(delivery.dueInMs);
    return this.look(reminder);
  }

  /** The delivery as it is now; null when there is nothing to attempt any more, or when somebody else sees to it. */
  private async reload(reminder: Reminder): Promise<DueDelivery | null> {
    const delivery = await this.attempts.load(reminder.deliveryId);
    if (delivery?.status !== 'pending') return null;
    if (!isSuperseded(delivery, reminder)) return delivery;
    if (!reminder.isOnly || !(await this.deliveries.takeBack(delivery.id))) return null;
    reminder.dueAt = undefined;
    return delivery;
  }
}

/**
 * Whether somebody else sees to the row by now: the sweeper, to whom it was entrusted because the queue seemed not to have
 * taken the job, or who has made another, or a worker that has let it in.
 */
function isSuperseded({ attendedUntilMs }: DueDelivery, { dueAt }: Reminder): boolean {
  if (dueAt === undefined) return false;
  const longerMs = attendedUntilMs - dueAt - ATTENDED_MS;
  return longerMs > SAME_TIME_MS || longerMs < -ATTENDED_MS / 2;
}

/** One for each send queue, because a worker is made of a decorated class. They share the slots of the process. */
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
