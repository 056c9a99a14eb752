import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { idBounds } from '../../infrastructure/database/id-time';
import type { EventFilter } from '../../webhooks/filter/event-filter';
import { FiltersService, type StoredEvent } from '../../webhooks/filters.service';
import { isOneOf } from '../rows/found-by-id';

const READ = `
  select id, name, user_id as "userId", body from webhook_service.events
  where ${isOneOf('events', '$1::uuid[]')} order by id`;

/** Limits the bodies in memory to about 2 MB. */
const PAGE = 20;

/** Applies the filter of a webhook to stored events. */
@Injectable()
export class FilteredEventsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly filters: FiltersService,
  ) {}

  /** Returns those of the events that match the filter, oldest first; all of them without a filter. */
  async matching(
    filter: EventFilter | null,
    eventIds: readonly string[],
    manager: EntityManager = this.dataSource.manager,
  ): Promise<readonly string[]> {
    if (filter === null) return eventIds;
    const found: string[] = [];
    for (let from = 0; from < eventIds.length; from += PAGE) {
      const ids = eventIds.slice(from, from + PAGE);
      const page = await manager.query<(StoredEvent & { id: string })[]>(READ, [ids, ...idBounds(ids)]);
      found.push(...(await this.filters.select(filter, page)).map(({ id }) => id));
    }
    return found;
  }
}
