import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { isUserId } from '../auth/access-token';
import { Config } from '../config/config';
import { Batcher } from '../database/batcher';
import { ClockService } from '../database/clock.service';
import { ApiError } from '../errors/api-error';
import { messageFor, MESSAGES } from '../errors/catalogue';
import { EVENT_TYPES, isReserved } from './catalogue';
import { eventBody } from './event-body';
import { serialiseData } from './event-data';
import { EventValidator } from './event-validator';
import { EventsRepository, type NewEvent, type NewEventKey } from './events.repository';
import { FanOutQueue } from './fan-out.queue';
import type { EventName, EventPayloads } from './payloads';
import { timeOfId } from '../pagination/id-time';
import { isIdempotencyKey } from './publish-request';
import { PublishTransactionSubscriber } from './publish-transaction.subscriber';

export interface PublishOptions {
  /** Whose subscribed webhooks get the event; absent or null: everybody's. An own property that is undefined throws. */
  userId?: string | null;
  /** A repeat with the same key answers the first event instead of publishing another. 1 to 255 printable ASCII. */
  idempotencyKey?: string;
  /** The event commits or rolls back with this manager's transaction. */
  manager?: EntityManager;
}

/** An accepted event: its row is committed (or is part of the caller's transaction). */
export interface PublishedEvent {
  id: string;
  event: string;
  createdAt: Date;
  userId: string | null;
  /** True when the idempotency key had already published it. */
  duplicate: boolean;
}

interface Publication {
  name: string;
  data: unknown;
  userId: string | null;
  /** Null: this application itself, in process. */
  publisherId: string | null;
  idempotencyKey?: string;
  manager?: EntityManager;
}

const MAX_BATCH = 500;

@Injectable()
export class EventsService {
  private readonly validator = new EventValidator(EVENT_TYPES);
  private readonly inserts = new Batcher<NewEvent, void>(async (events) => {
    await this.events.insert(events);
    return events.map(() => undefined);
  }, MAX_BATCH);

  constructor(
    private readonly config: Config,
    private readonly clock: ClockService,
    private readonly events: EventsRepository,
    private readonly queue: FanOutQueue,
    private readonly transactions: PublishTransactionSubscriber,
  ) {}

  /**
   * Publishes an event to every subscribed webhook of its audience. Resolves when the event is committed; delivery
   * follows asynchronously and survives any crash from here on.
   * @throws ApiError 400 (unknown name, data that does not fit, bad option), 409 (key reused), 413 (data too large)
   */
  async publish<Name extends EventName>(
    name: Name,
    data: EventPayloads[Name],
    options: PublishOptions = {},
  ): Promise<PublishedEvent> {
    if (Object.hasOwn(options, 'userId') && options.userId === undefined) {
      throw new ApiError(400, MESSAGES.userIdUndefined);
    }
    return this.accept({ ...options, name, data, userId: options.userId ?? null, publisherId: null });
  }

  /** Publishes over HTTP on behalf of a user: nothing reserved, and the idempotency key belongs to that user. */
  async publishAs(publisherId: string, publication: Omit<Publication, 'publisherId'>): Promise<PublishedEvent> {
    if (isReserved(publication.name)) throw new ApiError(400, messageFor.reservedEvent(publication.name));
    return this.accept({ ...publication, publisherId });
  }

  private async accept(publication: Publication): Promise<PublishedEvent> {
    const { name, userId, publisherId, idempotencyKey, manager } = publication;
    const data = this.judge(publication);
    const { id, at } = this.clock.birth();
    const event = { id, name, userId, publisherId, body: eventBody(id, name, at, data) };
    const first = { id, event: name, createdAt: at, userId, duplicate: false };
    if (idempotencyKey !== undefined) {
      const key = { publisherId: publisherId ?? '', key: idempotencyKey, fingerprint: fingerprint(name, userId, data) };
      const earlier = await this.insertKeyed(event, key, manager);
      if (earlier) return { ...first, id: earlier, createdAt: timeOfId(earlier), duplicate: true };
    } else {
      await (manager ? this.events.insert([event], manager) : this.inserts.add(event));
    }
    if (manager) this.transactions.note(manager, id);
    else this.queue.handOn([id]);
    return first;
  }

  /** The JSON text of the data, once everything about the publication has been found right. */
  private judge({ name, data, userId, idempotencyKey }: Publication): string {
    if (!this.validator.knows(name)) {
      throw new ApiError(
        400,
        messageFor.unknownEvent(
          name,
          EVENT_TYPES.map((type) => type.name).filter((n) => !isReserved(n)),
        ),
      );
    }
    if (userId !== null && !isUserId(userId)) throw new ApiError(400, MESSAGES.badUserId);
    if (idempotencyKey !== undefined && !isIdempotencyKey(idempotencyKey)) {
      throw new ApiError(400, MESSAGES.badIdempotencyKey);
    }
    const verdict = serialiseData(data);
    if (!verdict.ok) throw new ApiError(400, verdict.problem);
    const problem = this.validator.problemOf(name, verdict.value);
    if (problem) throw new ApiError(400, problem);
    if (Buffer.byteLength(verdict.text) > this.config.eventMaxBytes) {
      throw new ApiError(413, messageFor.eventTooLarge(this.config.eventMaxBytes));
    }
    return verdict.text;
  }

  /** The id of the earlier event that holds the key, or null when this one has won it. */
  private async insertKeyed(event: NewEvent, key: NewEventKey, manager?: EntityManager): Promise<string | null> {
    for (;;) {
      if (await this.events.insertKeyed(event, key, manager)) return null;
      const taken = await this.events.findKey(key, manager);
      // A key that aged out in between is free again.
      if (!taken) continue;
      if (!taken.fingerprint.equals(key.fingerprint)) throw new ApiError(409, MESSAGES.idempotencyKeyReused);
      return taken.eventId;
    }
  }
}

function fingerprint(name: string, userId: string | null, data: string): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([name, userId, data]))
    .digest();
}
