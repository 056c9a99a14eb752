import { isDeepStrictEqual } from 'node:util';
import { randomUUID } from 'node:crypto';
import type { EventDefinition } from '../catalogue/define-event';
import type { KnownEventType } from '../catalogue/event-catalogue';
import { PUBLICATION_MESSAGES } from '../catalogue/publication';
import { EventRefusedError } from '../nest/event-refused.error';
import { EventsService } from '../nest/events.service';
import type { Transaction } from '../nest/transaction';
import type { ValidatedEvent, PublishedEvent, Transport } from '../nest/transport';
import { EventsInMemory, EventsInTable, type KeptEvent, type KeptEvents } from './kept-events';

/** Options of an application's tests. */
export interface TestingOptions {
  /** The events of the application. */
  events?: readonly EventDefinition[];
  /** The application's test database: then an event with `tx` counts once its transaction has committed, otherwise at once. */
  connection?: Transaction;
}

/** A published event, with the data type of its definition. */
export type PublishedInTest<Data = Record<string, unknown>> = Omit<KeptEvent, 'data'> & { data: Data };

/** `EventsService` for tests: validates like the real one, and keeps published events instead of sending them. */
export class TestingEventsService extends EventsService {
  private readonly sink: KeepingTransport;

  constructor({ events = [], connection }: TestingOptions) {
    const sink = new KeepingTransport(connection ? new EventsInTable(connection) : new EventsInMemory());
    super({ application: 'test', events, transport: sink });
    this.sink = sink;
  }

  /** Returns the published events in order: all of them, or those with a definition or name. */
  async published<Data extends object = Record<string, unknown>>(
    event?: EventDefinition<string, Data> | string,
  ): Promise<PublishedInTest<Data>[]> {
    const name = typeof event === 'object' ? event.name : event;
    const all = await this.sink.kept.all();
    return all.filter((kept) => name === undefined || kept.event === name) as unknown as PublishedInTest<Data>[];
  }

  /**
   * Returns the only event with a definition or name.
   * @throws Error when there is none, or more than one
   */
  async single<Data extends object = Record<string, unknown>>(
    event: EventDefinition<string, Data> | string,
  ): Promise<PublishedInTest<Data>> {
    const found = await this.published(event);
    const [first] = found;
    if (first && found.length === 1) return first;
    throw new Error(
      `Expected one event ${typeof event === 'object' ? event.name : event}, and there are ${found.length}.`,
    );
  }

  /** Makes the next publication fail with this error. */
  failNext(error: Error): void {
    this.sink.nextError = error;
  }

  /** Deletes the published events and their idempotency keys. */
  async clear(): Promise<void> {
    this.sink.nextError = null;
    await this.sink.kept.clear();
  }
}

class KeepingTransport implements Transport {
  nextError: Error | null = null;

  constructor(readonly kept: KeptEvents) {}

  async start(): Promise<void> {
    await this.kept.begin();
  }

  async stop(): Promise<void> {
    await this.kept.end();
  }

  async find(): Promise<KnownEventType[]> {
    return [];
  }

  async write(events: readonly ValidatedEvent[], tx?: Transaction): Promise<PublishedEvent[]> {
    if (this.nextError) {
      const error = this.nextError;
      this.nextError = null;
      throw error;
    }
    const holders = new Map<string, KeptEvent>();
    for (const kept of await this.kept.all(tx))
      if (kept.idempotencyKey !== null) holders.set(kept.idempotencyKey, kept);
    const added: KeptEvent[] = [];
    const answers = events.map((event) => {
      const earlier = event.idempotencyKey === undefined ? undefined : holders.get(event.idempotencyKey);
      if (earlier && !isSame(earlier, event))
        throw new EventRefusedError('idempotency_key_reused', PUBLICATION_MESSAGES.idempotencyKeyReused);
      const kept = earlier ?? keptOf(event);
      if (!earlier) added.push(kept);
      if (kept.idempotencyKey !== null) holders.set(kept.idempotencyKey, kept);
      const { id, userId, createdAt } = kept;
      return { id, event: kept.event, userId, createdAt: new Date(createdAt), duplicate: earlier !== undefined };
    });
    await this.kept.add(added, tx);
    return answers;
  }
}

const keptOf = ({ name, userId, data, idempotencyKey, subject }: ValidatedEvent): KeptEvent => ({
  id: randomUUID(),
  event: name,
  userId,
  data: JSON.parse(data) as Record<string, unknown>,
  idempotencyKey: idempotencyKey ?? null,
  subject: subject ?? null,
  createdAt: new Date().toISOString(),
});

const isSame = ({ event, userId, data, subject }: KeptEvent, other: ValidatedEvent): boolean =>
  event === other.name &&
  userId === other.userId &&
  subject === (other.subject ?? null) &&
  isDeepStrictEqual(data, JSON.parse(other.data));
