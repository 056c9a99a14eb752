import { Injectable } from '@nestjs/common';
import { ApiError } from '../../plumbing/errors/api-error';
import { MESSAGES } from '../../plumbing/errors/messages';
import { TEST_EVENT_TYPE } from '../../catalogue/catalogue';
import { WebhooksService } from '../../webhooks/webhooks.service';
import { AttemptsService } from '../sending/attempts.service';
import { DeliveryLogService, type LoggedDelivery } from '../log/delivery-log.service';
import { TestEventsService } from './test-events.service';
import { WebhookTestsRepository } from './webhook-trials.repository';

/** Sends a test payload now, through the same sender as every delivery, and waits for its outcome. */
@Injectable()
export class WebhookTestService {
  constructor(
    private readonly events: TestEventsService,
    private readonly webhooks: WebhooksService,
    private readonly tests: WebhookTestsRepository,
    private readonly attempts: AttemptsService,
    private readonly log: DeliveryLogService,
  ) {}

  async run(userId: string, webhookId: string, eventName: string = TEST_EVENT_TYPE.name): Promise<LoggedDelivery> {
    const webhook = await this.webhooks.read(userId, webhookId);
    const test = this.events.make(eventName, webhookId);
    const inserted = await this.tests.insert(webhook, test);
    if (!inserted) throw new ApiError(409, MESSAGES.testInFlight);
    const delivery = await this.attempts.load(test.deliveryId);
    if (delivery) await this.attempts.make(delivery);
    return this.log.read(userId, webhookId, test.deliveryId);
  }
}
