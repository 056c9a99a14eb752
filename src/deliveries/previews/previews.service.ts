import { Injectable } from '@nestjs/common';
import { EventCatalogue } from 'webhook-notification/catalogue';
import { eventBody } from 'webhook-notification';
import { missingScope, type Principal } from '../../auth/access-token';
import { ClockService } from '../../infrastructure/database/clock.service';
import { ApiError, messageFor } from '../../infrastructure/errors/api-error';
import { explainFilter, type FilterExplanation } from '../../webhooks/filter/explain-filter';
import { filterable, type StoredEvent } from '../../webhooks/filters.service';
import { formatted, type FormattedEvent } from '../../webhooks/formats/event-format';
import { wantedFields } from '../../webhooks/formats/field-paths';
import { projectedBody } from '../../webhooks/formats/projection';
import { EventLogService } from '../log/event-log.service';
import type { ChosenEvent, FilterCheck, FormatPreview } from './preview-requests';

/** Shows owners what a filter lets through, and what a format looks like. Sends and changes nothing. */
@Injectable()
export class PreviewsService {
  constructor(
    private readonly log: EventLogService,
    private readonly clock: ClockService,
    private readonly catalogue: EventCatalogue,
  ) {}

  async checkFilter(user: Principal, { filter, chosen }: FilterCheck): Promise<FilterExplanation> {
    const event = await this.eventOf(user, chosen, (id) => this.log.readForFilter(user.userId, id));
    return filter === null ? { matches: true, failed: [] } : explainFilter(filter, filterable(event));
  }

  async format(user: Principal, { format, paths, chosen }: FormatPreview): Promise<FormattedEvent> {
    const read = async (id: string) => (await this.log.read(user.userId, id)).event;
    const event = await this.eventOf(user, chosen, read);
    const { name, userId } = event;
    const body = paths ? projectedBody(event.body, wantedFields(paths)) : event.body;
    const description = this.catalogue.find(name)?.description ?? null;
    return formatted(format, { body, userId, description });
  }

  private async eventOf(
    { userId, scopes }: Principal,
    chosen: ChosenEvent,
    read: (id: string) => Promise<StoredEvent>,
  ): Promise<StoredEvent> {
    if ('event' in chosen) {
      const { id, at } = this.clock.newId();
      return { name: chosen.event, userId, body: eventBody(id, chosen.event, at, chosen.data, chosen.subject) };
    }
    const missing = missingScope(['deliveries:read'], scopes);
    if (missing) throw new ApiError('scope_missing', messageFor.missingScope(missing));
    return read(chosen.eventId);
  }
}
