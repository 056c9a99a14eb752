import { Injectable } from '@nestjs/common';
import type { Principal } from '../../auth/access-token';
import { missingScope } from '../../auth/scope';
import { ApiError } from '../../infrastructure/errors/api-error';
import { messageFor } from '../../infrastructure/errors/messages';
import { explainFilter, type FilterExplanation } from '../../webhooks/filter/explain-filter';
import type { FilterableEvent } from '../../webhooks/filter/filter-path';
import { EventLogService } from '../log/event-log.service';
import type { FilterCheck } from './filter-check';

/** Tells an owner which events a filter lets through, and why not. */
@Injectable()
export class FilterChecksService {
  constructor(private readonly log: EventLogService) {}

  /** @throws ApiError for a stored event: 403 without deliveries:read, 404 when it is not visible to the user */
  async check(user: Principal, wanted: FilterCheck): Promise<FilterExplanation> {
    if (wanted.filter === null) return { matches: true, failed: [] };
    return explainFilter(wanted.filter, await this.eventOf(user, wanted));
  }

  private async eventOf({ userId, scopes }: Principal, wanted: FilterCheck): Promise<FilterableEvent> {
    if (wanted.eventId === undefined) return { event: wanted.event, userId, data: wanted.data };
    const missing = missingScope(['deliveries:read'], scopes);
    if (missing) throw new ApiError('scope_missing', messageFor.missingScope(missing));
    const event = await this.log.readForFilter(userId, wanted.eventId);
    return { event: event.name, userId: event.userId, data: (JSON.parse(event.body) as { data: unknown }).data };
  }
}
