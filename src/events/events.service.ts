import { Injectable } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import { EntityManager } from 'typeorm';
import { eventBody, type EventDefinition, type EventName, type EventPayloads } from 'webhook-notification';
import {
  EventCatalogue,
  fingerprintOf,
  isReserved,
  messageOf,
  type Publication as CataloguePublication,
  requireUserId,
  validatePublication,
} from 'webhook-notification/catalogue';
import { database, EventRefusedError, type Transaction } from 'webhook-notification/nest';
import { StoredTypesService } from '../catalogue/stored-types.service';
import { ApiError, invalid, messageFor, MESSAGES } from '../infrastructure/errors/api-error';
import { ErasingUsersService } from '../auth/erasing-users.service';
import { Batcher } from '../infrastructure/concurrency/batcher';
import { ClockService } from '../infrastructure/database/clock.service';
import { lingerFor } from '../infrastructure/concurrency/pauses.timer';
import { type AcceptedEvent, AcceptedEventsService, type Origin } from './accepted-events.service';
import { EventsRepository, type NewEvent, type NewEventKey } from './events.repository';
import { timeOfId } from '../infrastructure/database/id-time';
import { PublishTransactionSubscriber } from './publish-transaction.subscriber';
import { endSpan, failing, startPublish, traceparentOf } from './spans';

@Injectable()
export class PublicationRulesService {
  constructor(
    private readonly catalogue: EventCatalogue,
    private readonly types: StoredTypesService,
  ) {}

  /** Loads the event types with these names, if there are any. Must be called before `validate`. */
  async lookUp(names: readonly string[]): Promise<void> {
    await this.types.lookUp(names);
  }

  /** Validates a publication and returns the JSON text of its data. */
  validate(publication: CataloguePublication): string {
    const verdict = validatePublication(this.catalogue, publication);
    if (verdict.ok) return verdict.text;
    if (verdict.code === 'validation_failed') throw ApiError.invalid(...verdict.errors);
    throw new ApiError(verdict.code, messageOf(verdict.errors));
  }
}

export interface PublishOptions {
  /** User whose subscribed webhooks receive the event; null for all users. */
  userId: string | null;
  /** Repeating the same key returns the first event and publishes no other. 1 to 255 printable ASCII characters. */
  idempotencyKey?: string;
  /**
   * What the event is about, such as `invoice/123`: 1 to 128 visible characters; null or absent: nothing. It must not contain
   * personal data, because it stands in headers and addresses.
   */
  subject?: string | null;
  /** The transaction to commit or roll back with: an EntityManager, a client of pg, `fromDrizzle`, `fromKysely`. */
  tx?: Transaction;
  /** The same as `tx`, for an EntityManager. */
  manager?: EntityManager;
}

/** An accepted event: its row is committed, or is part of the caller's transaction. */
export interface PublishedEvent {
  id: string;
  event: string;
  createdAt: Date;
  userId: string | null;
  /** True when the idempotency key had already published the event. */
  duplicate: boolean;
}

export interface Publication extends CataloguePublication {
  /** Null for this application itself, in process. */
  publisherId: string | null;
  manager?: EntityManager;
  origin?: Origin;
}

/** A validated publication: the row to insert and the result to return. */
export interface PreparedEvent {
  event: NewEvent;
  key: NewEventKey | null;
  published: PublishedEvent;
  origin?: Origin;
  span: Span;
}

const MAX_BATCH = 500;
/** Events that are published one by one do not wait for others. */
const LINGER = lingerFor({ unlessAbove: 16, quietMs: 5, withinMs: 20, enough: 20 });

@Injectable()
export class EventsService {
  private readonly inserts = new Batcher<NewEvent, void>(
    async (events) => {
      await this.events.insert(events);
      return events.map(() => undefined);
    },
    MAX_BATCH,
    1,
    LINGER,
  );

  constructor(
    private readonly rules: PublicationRulesService,
    private readonly clock: ClockService,
    private readonly events: EventsRepository,
    private readonly accepted: AcceptedEventsService,
    private readonly transactions: PublishTransactionSubscriber,
    private readonly erasing: ErasingUsersService,
  ) {}

  /**
   * Publishes an event, given by name or by `defineEvent`, to every subscribed webhook of its audience. Resolves when the event
   * is committed, or with `tx` when it is inserted. Delivery follows the commit asynchronously and survives any crash from then
   * on.
   * @throws ApiError 400 (unknown name, data that does not match its schema, bad option), 409 (key reused, user being erased),
   *   413 (data too large); TypeError without `userId`
   */
  publish<Name extends EventName>(
    event: Name,
    data: EventPayloads[Name],
    options: PublishOptions,
  ): Promise<PublishedEvent>;
  publish<Data extends object>(
    event: EventDefinition<string, Data>,
    data: NoInfer<Data>,
    options: PublishOptions,
  ): Promise<PublishedEvent>;
  async publish(event: string | EventDefinition, data: object, options: PublishOptions): Promise<PublishedEvent> {
    requireUserId(options);
    const { tx, ...audience } = options;
    const name = typeof event === 'string' ? event : event.name;
    const manager = tx instanceof EntityManager ? tx : audience.manager;
    const publication = { ...audience, name, data, publisherId: null, manager };
    await this.rules.lookUp([name]);
    if (tx && !manager) return this.insertElsewhere(publication, tx);
    return this.insert(this.prepare(publication), manager);
  }

  /**
   * Publishes many events of one name in the caller's transaction: like `publish`, but with one insert for hundreds of
   * them. Guarantees no order, and returns no results.
   */
  async publishAll<Name extends EventName>(
    name: Name,
    data: readonly EventPayloads[Name][],
    { userId, manager }: { userId: string | null; manager: EntityManager },
  ): Promise<void> {
    await this.rules.lookUp([name]);
    for (let i = 0; i < data.length; i += MAX_BATCH) {
      const publications = data.slice(i, i + MAX_BATCH).map((one) => ({ name, data: one, userId, publisherId: null }));
      const prepared = publications.map((publication) => this.prepare(publication));
      const events = prepared.map(({ event }) => event);
      await this.events.insert(events, manager).catch(failing(prepared));
      this.transactions.note(
        manager,
        prepared.map((one) => acceptedOf(one, one.published)),
      );
    }
  }

  /** Publishes an event for a user over HTTP. The idempotency key belongs to that user. */
  async publishAs(publisherId: string, publication: Omit<Publication, 'publisherId'>): Promise<PublishedEvent> {
    await this.rules.lookUp([publication.name]);
    return this.insert(this.prepareAs(publisherId, publication), publication.manager);
  }

  /** Validates an event that a user publishes over HTTP, without inserting it. Its name must have been looked up. */
  prepareAs(publisherId: string, publication: Omit<Publication, 'publisherId'>): PreparedEvent {
    if (isReserved(publication.name)) throw invalid('event', messageFor.reservedEvent(publication.name));
    return this.prepare({ ...publication, publisherId });
  }

  private prepare(publication: Publication): PreparedEvent {
    const span = startPublish(publication.origin?.traceparent ?? null);
    try {
      return this.prepareIn(span, publication);
    } catch (error) {
      return failing([{ span }])(error);
    }
  }

  private prepareIn(span: Span, publication: Publication): PreparedEvent {
    const { name, userId, publisherId, idempotencyKey, subject = null, origin } = publication;
    const data = this.validate(publication);
    const { id, at } = this.clock.newId();
    return {
      event: {
        id,
        name,
        userId,
        publisherId,
        body: eventBody(id, name, at, data, subject),
        subject,
        traceparent: traceparentOf(span),
      },
      key:
        idempotencyKey === undefined
          ? null
          : {
              ...{ publisherId: publisherId ?? '', key: idempotencyKey },
              fingerprint: fingerprintOf(name, userId, data, subject),
            },
      published: { id, event: name, createdAt: at, userId, duplicate: false },
      origin,
      span,
    };
  }

  private validate(publication: Publication): string {
    const data = this.rules.validate(publication);
    if (publication.userId !== null) this.erasing.refuse(publication.userId);
    return data;
  }

  private async insert(prepared: PreparedEvent, manager?: EntityManager): Promise<PublishedEvent> {
    const published = await this.insertOnce(prepared, manager).catch(failing([prepared]));
    const accepted = [acceptedOf(prepared, published)];
    if (manager) this.transactions.note(manager, accepted);
    else this.accepted.committed(accepted);
    return published;
  }

  /** Inserts in a transaction whose commit is not reported to this service: the sweeper finds the event afterwards. */
  private async insertElsewhere(publication: Publication, tx: Transaction): Promise<PublishedEvent> {
    const { name, userId, idempotencyKey, subject } = publication;
    const options = { ...(idempotencyKey && { idempotencyKey }), ...(subject != null && { subject }) };
    const event = { name, userId, data: this.validate(publication), ...options };
    try {
      const [published] = await database({ connection: tx }).write([event], tx);
      return published as PublishedEvent;
    } catch (error) {
      throw error instanceof EventRefusedError ? new ApiError(error.code, error.message, error) : error;
    }
  }

  private async insertOnce({ event, key, published }: PreparedEvent, manager?: EntityManager): Promise<PublishedEvent> {
    if (key) {
      const earlier = await this.insertKeyed(event, key, manager);
      if (earlier) return { ...published, id: earlier, createdAt: timeOfId(earlier), duplicate: true };
    } else {
      await (manager ? this.events.insert([event], manager) : this.inserts.add(event));
    }
    return published;
  }

  /** Returns the id of the earlier event that holds the key; null when this event has acquired it. */
  private async insertKeyed(event: NewEvent, key: NewEventKey, manager?: EntityManager): Promise<string | null> {
    for (;;) {
      if (await this.events.insertKeyed(event, key, manager)) return null;
      const taken = await this.events.findKey(key, manager);
      // A key that expired in between is free again.
      if (!taken) continue;
      if (!(await this.events.isRepeat(event, key, taken, manager)))
        throw new ApiError('idempotency_key_reused', MESSAGES.idempotencyKeyReused);
      return taken.eventId;
    }
  }
}

/** Ends the span of a publication that has been inserted. */
export function acceptedOf({ event, origin, span }: PreparedEvent, published: PublishedEvent): AcceptedEvent {
  endSpan(span.setAttribute('webhooks.event.id', published.id));
  return { published, publisherId: event.publisherId, origin, traceparent: event.traceparent };
}
