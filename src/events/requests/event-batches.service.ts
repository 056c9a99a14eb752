import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';
import { timeOfId } from '../../infrastructure/database/id-time';
import { AcceptedEventsService } from '../accepted-events.service';
import { forEachEvent } from './publish-request';
import { EventsRepository, type TakenKey } from '../events.repository';
import {
  acceptedOf,
  EventsService,
  type PreparedEvent,
  type Publication,
  PublicationRulesService,
  type PublishedEvent,
} from '../events.service';
import { failing } from '../spans';

/** The event that holds each idempotency key of a batch: an event of the batch itself, or an earlier one. */
type Holders = Map<string, TakenKey>;

/** After this long, other requests get their turn before the next event of a batch is validated. */
const VALIDATE_FOR_MS = 20;

@Injectable()
export class EventBatchesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly rules: PublicationRulesService,
    private readonly events: EventsService,
    private readonly rows: EventsRepository,
    private readonly accepted: AcceptedEventsService,
  ) {}

  /**
   * Publishes a batch and returns one result per event, in order. A key that occurs twice in it is a repeat too.
   * @throws ApiError as `EventsService.publishAs`, with the position of each invalid event
   */
  async publishAs(
    publisherId: string,
    publications: readonly Omit<Publication, 'publisherId'>[],
  ): Promise<PublishedEvent[]> {
    await this.rules.lookUp(publications.map(({ name }) => name));
    const batch = forEachEvent(await this.validate(publisherId, publications), (result) => result());
    const holders = await this.dataSource
      .transaction((manager) => this.insert(manager, publisherId, batch))
      .catch(failing(batch));
    const answers = batch.map((prepared) => answerOf(prepared, holders));
    this.accepted.committed(batch.map((prepared, i) => acceptedOf(prepared, answers[i] as PublishedEvent)));
    return answers;
  }

  /** Validates one event after the other. Each result is a function that returns the event or throws its error. */
  private async validate(
    publisherId: string,
    publications: readonly Omit<Publication, 'publisherId'>[],
  ): Promise<(() => PreparedEvent)[]> {
    const results: (() => PreparedEvent)[] = [];
    let began = performance.now();
    for (const publication of publications) {
      results.push(resultOf(() => this.events.prepareAs(publisherId, publication)));
      if (performance.now() - began < VALIDATE_FOR_MS) continue;
      await nextTurn();
      began = performance.now();
    }
    return results;
  }

  private async insert(manager: EntityManager, publisherId: string, batch: readonly PreparedEvent[]): Promise<Holders> {
    const holders = await this.winKeys(manager, publisherId, batch);
    await this.refuseReusedKeys(manager, batch, holders);
    const events = batch.filter((prepared) => !answerOf(prepared, holders).duplicate).map(({ event }) => event);
    if (events.length > 0) await this.rows.insert(events, manager);
    return holders;
  }

  private async refuseReusedKeys(
    manager: EntityManager,
    batch: readonly PreparedEvent[],
    holders: Holders,
  ): Promise<void> {
    const messages: string[] = [];
    for (const [index, { event, key }] of batch.entries()) {
      const taken = key && holders.get(key.key);
      const holder = batch.find((other) => other.event.id === taken?.eventId)?.event;
      if (taken && !(await this.rows.isRepeat(event, key, taken, manager, holder)))
        messages.push(`events[${index}]: ${MESSAGES.idempotencyKeyReused}`);
    }
    if (messages.length > 0) throw new ApiError('idempotency_key_reused', messages.slice(0, 10).join('; '));
  }

  /** Acquires the keys in sorted order, so that two batches with the same keys cannot deadlock. */
  private async winKeys(
    manager: EntityManager,
    publisherId: string,
    batch: readonly PreparedEvent[],
  ): Promise<Holders> {
    const wanted = new Map(batch.flatMap(({ key }) => (key ? [[key.key, key] as const] : [])).reverse());
    const ownIds = new Map(batch.map(({ key, event }) => [key, event.id]));
    const holders: Holders = new Map();
    // A key that expires in between is free again.
    while (holders.size < wanted.size) {
      const open = [...wanted.values()].filter(({ key }) => !holders.has(key)).sort((a, b) => (a.key < b.key ? -1 : 1));
      const rows = open.map((key) => ({ ...key, eventId: ownIds.get(key) ?? '' }));
      await this.rows.insertKeys(manager, rows);
      const found = await this.rows.findKeys(
        manager,
        publisherId,
        open.map(({ key }) => key),
      );
      for (const { key, ...taken } of found) holders.set(key, taken);
    }
    return holders;
  }
}

function resultOf<T>(action: () => T): () => T {
  try {
    const value = action();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function answerOf({ key, published }: PreparedEvent, holders: Holders): PublishedEvent {
  const id = (key && holders.get(key.key)?.eventId) ?? published.id;
  return id === published.id ? published : { ...published, id, createdAt: timeOfId(id), duplicate: true };
}
