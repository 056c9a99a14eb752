import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Batcher } from '../infrastructure/concurrency/batcher';
import { TimeSlices } from '../infrastructure/concurrency/time-slices.timer';
import { StatementsService, statement } from '../infrastructure/database/statements.service';
import { type CompiledFilter, compileFilter, matches } from './filter/compile-filter';
import type { EventFilter } from './filter/event-filter';
import { type FilterableEvent, type ValuesAt, valuesOf } from './filter/filter-path';

/** A webhook that has a filter. The hash is the version of the filter. */
export interface FilteredWebhook {
  webhookId: string;
  filterHash: string;
}

export interface StoredEvent {
  name: string;
  userId: string | null;
  body: string;
}

const LOAD = statement('load_filters')`
    select id, filter, filter_hash as hash, octet_length(filter::text) as bytes
    from webhook_service.webhooks where id = any($1::uuid[])`;

/** Filters that are loaded with one statement: up to 400 KiB of JSON. */
const PAGE = 100;
/** Of the JSON of compiled filters in memory, which take about ten times as much. */
const MAX_BYTES = 8 * 1024 * 1024;
const SLICE_MS = 5;

/** Decides by their filters which webhooks receive an event. Filters are compiled once per version. */
@Injectable()
export class FiltersService {
  private readonly compiled = new LRUCache<string, CompiledFilter>({ maxSize: MAX_BYTES });
  private readonly loads = new Batcher<string, CompiledFilter | null>((ids) => this.load(ids), PAGE);
  private readonly slices = new TimeSlices(SLICE_MS);

  constructor(private readonly statements: StatementsService) {}

  /** Returns those of the webhooks whose current filter, if they still have one, the event matches. */
  async matching<Webhook extends FilteredWebhook>(
    event: StoredEvent,
    webhooks: readonly Webhook[],
  ): Promise<Webhook[]> {
    const valuesAt = await this.parse(event);
    const found: Webhook[] = [];
    for (let from = 0; from < webhooks.length; from += PAGE) {
      const page = webhooks.slice(from, from + PAGE);
      const filters = await Promise.all(page.map((webhook) => this.filterOf(webhook)));
      for (const [i, webhook] of page.entries()) {
        const filter = filters[i] ?? null;
        await this.slices.next();
        if (filter === null || matches(filter, valuesAt)) found.push(webhook);
      }
    }
    return found;
  }

  async select<Event extends StoredEvent>(filter: EventFilter, events: readonly Event[]): Promise<Event[]> {
    const compiled = compileFilter(filter);
    const found: Event[] = [];
    for (const event of events) if (matches(compiled, await this.parse(event))) found.push(event);
    return found;
  }

  private async parse(event: StoredEvent): Promise<ValuesAt> {
    await this.slices.next();
    return valuesOf(filterable(event));
  }

  private async filterOf({ webhookId, filterHash }: FilteredWebhook): Promise<CompiledFilter | null> {
    return this.compiled.get(keyOf(webhookId, filterHash)) ?? this.loads.add(webhookId);
  }

  private async load(webhookIds: string[]): Promise<(CompiledFilter | null)[]> {
    type Row = { id: string; filter: EventFilter | null; hash: string | null; bytes: number };
    const loaded = new Map<string, CompiledFilter>();
    for (const { id, filter, hash, bytes } of await this.statements.run<Row>(LOAD, [webhookIds])) {
      if (filter === null || hash === null) continue;
      const compiled = compileFilter(filter);
      loaded.set(id, compiled);
      this.compiled.set(keyOf(id, hash), compiled, { size: bytes });
    }
    return webhookIds.map((id) => loaded.get(id) ?? null);
  }
}

/** Returns the part of a stored event that filters see. */
export function filterable({ name, userId, body }: StoredEvent): FilterableEvent {
  const { subject, data } = JSON.parse(body) as { subject?: string; data: unknown };
  return { event: name, userId, subject, data };
}

/** With the id, because owners could find two filters with the same hash. */
const keyOf = (webhookId: string, filterHash: string): string => `${webhookId} ${filterHash}`;
