import { Injectable } from '@nestjs/common';
import { ClockService } from '../database/clock.service';
import { ApiError } from '../errors/api-error';
import { messageFor, MESSAGES } from '../errors/catalogue';
import { EVENT_TYPES, TEST_EVENT_TYPE } from '../events/catalogue';
import { eventBody } from '../events/event-body';
import { WebhooksService } from '../webhooks/webhooks.service';
import { AttemptsService } from './attempts.service';
import { DeliveryLogService, type LoggedDelivery } from './delivery-log.service';
import { WebhookTestsRepository } from './webhook-tests.repository';

/** Sends a test payload now, through the same sender as every delivery, and waits for its outcome. */
@Injectable()
export class WebhookTestService {
  constructor(
    private readonly clock: ClockService,
    private readonly webhooks: WebhooksService,
    private readonly tests: WebhookTestsRepository,
    private readonly attempts: AttemptsService,
    private readonly log: DeliveryLogService,
  ) {}

  async run(userId: string, webhookId: string, eventName: string = TEST_EVENT_TYPE.name): Promise<LoggedDelivery> {
    const webhook = await this.webhooks.read(userId, webhookId);
    const data = JSON.stringify(exampleOf(eventName, webhookId));
    const { id: eventId, at } = this.clock.birth();
    const { id: deliveryId } = this.clock.birth();
    const body = eventBody(eventId, eventName, at, data);
    const inserted = await this.tests.insert(webhook, { eventId, deliveryId, event: eventName, body });
    if (!inserted) throw new ApiError(409, MESSAGES.testInFlight);
    const delivery = await this.attempts.load(deliveryId);
    if (delivery) await this.attempts.make(delivery);
    return this.log.read(userId, webhookId, deliveryId);
  }
}

function exampleOf(eventName: string, webhookId: string): object {
  if (eventName === TEST_EVENT_TYPE.name) return { ...TEST_EVENT_TYPE.example, webhookId };
  const type = EVENT_TYPES.find(({ name }) => name === eventName);
  const names = [...EVENT_TYPES, TEST_EVENT_TYPE].map(({ name }) => name);
  if (!type) throw new ApiError(400, messageFor.unknownEvent(eventName, names));
  return type.example;
}
