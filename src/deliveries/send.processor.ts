import { setTimeout as pause } from 'node:timers/promises';
import { Processor } from '@nestjs/bullmq';
import { Injectable, type Type } from '@nestjs/common';
import type { Job } from 'bullmq';
import { processorOptions } from '../queue/processor-options.decorator';
import { TrackedProcessor } from '../queue/tracked.processor';
import { AttemptsService } from './attempts.service';
import { DeliveriesRepository } from './deliveries.repository';
import { ALL_SEND_QUEUES, sendQueueNames, slotsOf } from './send-queues';
import { type SendJob, SendQueue } from './send.queue';
import { WebhookEndingsService } from './webhook-endings.service';

/** A job may come early by this much; earlier ones are the fault of a clock that is ahead. */
const SHORT_WAIT_MS = 1000;

/** Attends to one delivery. */
@Injectable()
export class SendProcessor extends TrackedProcessor<SendJob> {
  constructor(
    private readonly attempts: AttemptsService,
    private readonly deliveries: DeliveriesRepository,
    private readonly queue: SendQueue,
    private readonly endings: WebhookEndingsService,
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
    const made = await this.attempts.make(delivery);
    if (made?.nextId) await this.queue.offer([made.nextId], made.nextInMs ?? 0);
    if (made) await this.endings.note(delivery.webhookId, made);
  }
}

/** One for each send queue, because a worker is made of a decorated class. Together they have the slots of the process. */
const PROCESSORS: readonly Type<SendProcessor>[] = ALL_SEND_QUEUES.map((name, index) => {
  const slots = processorOptions(({ redisUrl, deliveryConcurrency }) =>
    slotsOf(deliveryConcurrency, sendQueueNames(redisUrl).length, index),
  );
  class QueueSendProcessor extends SendProcessor {}
  Processor(name, slots)(QueueSendProcessor);
  return QueueSendProcessor;
});

/** The processors of the first `count` send queues. */
export const sendProcessors = (count: number): readonly Type<SendProcessor>[] => PROCESSORS.slice(0, count);
