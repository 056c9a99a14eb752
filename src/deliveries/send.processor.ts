import { setTimeout as pause } from 'node:timers/promises';
import { Processor } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { processorOptions } from '../queue/processor-options.decorator';
import { TrackedProcessor } from '../queue/tracked.processor';
import { WebhookHealthService } from '../webhooks/webhook-health.service';
import { AttemptsService } from './attempts.service';
import { DeliveriesRepository } from './deliveries.repository';
import type { DeliveryStatus } from './delivery.entity';
import type { DueDelivery } from './due-delivery';
import { SEND_QUEUE, type SendJob, SendQueue } from './send.queue';

/** A job may come early by this much; earlier ones are the fault of a clock that is ahead. */
const SHORT_WAIT_MS = 1000;

/** Attends to one delivery. */
@Processor(SEND_QUEUE, processorOptions((config) => config.deliveryConcurrency))
export class SendProcessor extends TrackedProcessor<SendJob> {
  constructor(
    private readonly attempts: AttemptsService,
    private readonly deliveries: DeliveriesRepository,
    private readonly queue: SendQueue,
    private readonly health: WebhookHealthService,
  ) {
    super();
  }

  protected override async handle(job: Job<SendJob>): Promise<void> {
    const delivery = await this.attempts.load(job.data.deliveryId);
    if (delivery?.status !== 'pending') return;
    if (delivery.dueInMs > SHORT_WAIT_MS) return this.deliveries.entrustToSweeper(delivery.id);
    if (delivery.dueInMs > 0) {
      await pause(delivery.dueInMs);
      return this.handle(job);
    }
    const recorded = await this.attempts.make(delivery);
    if (recorded?.nextId) await this.queue.offer([recorded.nextId], recorded.nextInMs ?? 0);
    else await this.count(delivery, recorded?.status);
  }

  /** A success is only written where there is a count to clear. */
  private async count({ webhookId, webhook }: DueDelivery, status?: DeliveryStatus): Promise<void> {
    if (status === 'failed') await this.health.ranOutOfRetries(webhookId);
    if (status === 'succeeded' && webhook?.consecutiveFailures) await this.health.succeeded(webhookId);
  }
}
