import { Injectable } from '@nestjs/common';
import { ClockService } from '../../plumbing/database/clock.service';
import { ApiError } from '../../plumbing/errors/api-error';
import { messageFor } from '../../plumbing/errors/messages';
import { TEST_EVENT_TYPE } from '../../catalogue/catalogue';
import { EventCatalogue } from '../../catalogue/event-catalogue';
import { eventBody } from '../../events/event-body';
import type { NewTest } from './webhook-trials.repository';

/** The events that tests send: `webhook.test`, or the catalogue's example of another event. */
@Injectable()
export class TestEventsService {
  constructor(
    private readonly clock: ClockService,
    private readonly catalogue: EventCatalogue,
  ) {}

  /** @throws ApiError 400 for an event that nobody knows */
  make(event: string, webhookId: string): NewTest {
    const data = JSON.stringify(this.exampleOf(event, webhookId));
    const { id: eventId, at } = this.clock.birth();
    const { id: deliveryId } = this.clock.birth();
    return { eventId, deliveryId, event, body: eventBody(eventId, event, at, data) };
  }

  private exampleOf(event: string, webhookId: string): object {
    if (event === TEST_EVENT_TYPE.name) return { ...TEST_EVENT_TYPE.example, webhookId };
    const type = this.catalogue.find(event);
    const names = this.catalogue.all.map(({ name }) => name);
    if (!type) throw new ApiError(400, messageFor.unknownEvent(event, names));
    return type.example;
  }
}
