import { channel } from 'node:diagnostics_channel';
import { BAD_APPLICATION, isApplication } from '../catalogue/declaration-rules';
import type { EventDefinition } from '../catalogue/define-event';
import { EventCatalogue, type KnownEventType } from '../catalogue/event-catalogue';
import { requireUserId, validatePublication } from '../catalogue/publication';
import type { EventName, EventPayloads } from '../events/payloads';
import { type FieldError, messageOf } from '../catalogue/field-error';
import { EventRefusedError } from './event-refused.error';
import type { Transaction } from './transaction';
import type { ValidatedEvent, PublishedEvent, Transport } from './transport';

/** Events per statement. */
const MAX_BATCH = 500;
/** How long types that others have declared are cached, in ms. */
const KNOWN_FOR_MS = 2000;
const DEFAULT_MAX_BYTES = 98_304;

/** Reports each event that was written: `{ published, application, inTransaction }`. */
export const PUBLISHED_CHANNEL = 'webhook-notification:published';
const published = channel(PUBLISHED_CHANNEL);

export interface PublishOptions {
  /** The user whose subscribed webhooks receive the event; null: all users. */
  userId: string | null;
  /** A call with a known key returns the first event and publishes no other. 1 to 255 printable ASCII characters. */
  idempotencyKey?: string;
  /**
   * What the event is about, such as `invoice/123`: 1 to 128 visible characters; null or absent: nothing. Receivers get it in the
   * body and in a header, and logs are searched by it: it must not contain personal data.
   */
  subject?: string | null;
  /** The event commits or rolls back with this transaction. */
  tx?: Transaction;
}

/** One of several events that are published together. */
export interface EventToPublish<Event extends string | EventDefinition = string | EventDefinition> {
  event: Event;
  data: object;
  /** The user whose subscribed webhooks receive the event; null: all users. */
  userId: string | null;
  idempotencyKey?: string;
  subject?: string | null;
}

/** The options of an application's service. */
export interface EventsServiceOptions {
  /** The owner of the events: 1 to 64 of the characters A-Z a-z 0-9 @ / . _ - */
  application: string;
  events?: readonly EventDefinition[];
  /** The service's `EVENT_MAX_BYTES`. Default: 98304. */
  eventMaxBytes?: number;
  transport: Transport;
}

/** Publishes events of an application to the webhooks of its users. */
export class EventsService {
  private readonly catalogue: EventCatalogue;
  private readonly transport: Transport;
  /** Types that others have declared, and when they were looked up. */
  private readonly foreign = new Map<string, { type: KnownEventType; at: number }>();

  /** @throws Error when the application or a definition cannot be declared */
  constructor(private readonly options: EventsServiceOptions) {
    if (!isApplication(options.application)) throw new TypeError(`WebhookNotificationModule: ${BAD_APPLICATION}.`);
    this.transport = options.transport;
    this.catalogue = new EventCatalogue({
      extraEventTypes: [],
      eventMaxBytes: options.eventMaxBytes ?? DEFAULT_MAX_BYTES,
      application: options.application,
    });
    for (const event of options.events ?? []) this.catalogue.register(event);
  }

  /** Called by Nest when the application starts. */
  async onApplicationBootstrap(): Promise<void> {
    await this.transport.start(this.options.application, this.catalogue.registered);
  }

  /**
   * Called by Nest when the application ends, where shutdown hooks are enabled: before the modules of TypeORM, MikroORM and
   * Sequelize close their connections, in whichever order a version of Nest calls hooks of one name.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await this.transport.stop();
  }

  /**
   * Publishes an event to every subscribed webhook of its audience. Resolves when it is committed, or with `tx` when it
   * is part of that transaction. Delivery follows the commit, and survives any crash from then on.
   * @throws TypeError without `userId`
   * @throws EventRefusedError 400 (unknown name, invalid data, invalid option), 409 (key reused), 413 (data too large)
   */
  publish<Data extends object>(
    event: EventDefinition<string, Data>,
    data: NoInfer<Data>,
    options: PublishOptions,
  ): Promise<PublishedEvent>;
  publish<Name extends EventName>(
    event: Name,
    data: EventPayloads[Name],
    options: PublishOptions,
  ): Promise<PublishedEvent>;
  async publish(event: string | EventDefinition, data: object, options: PublishOptions): Promise<PublishedEvent> {
    requireUserId(options);
    const { tx, ...audience } = options;
    const [answer] = await this.write([{ event, data, ...audience }], tx);
    return answer as PublishedEvent;
  }

  /**
   * Publishes several events, all of them or none, with hundreds of them in a statement. Without `tx` at most 500,
   * which are committed together.
   * @throws TypeError, EventRefusedError as `publish`; roll back the transaction then
   */
  async publishMany(events: readonly EventToPublish[], { tx }: { tx?: Transaction } = {}): Promise<PublishedEvent[]> {
    if (!tx && events.length > MAX_BATCH) {
      throw refused('events', `More than ${MAX_BATCH} events are published in a transaction: pass tx.`);
    }
    for (const [i, event] of events.entries()) requireUserId(event, `events[${i}].userId`);
    return this.write(events, tx);
  }

  private async write(events: readonly EventToPublish[], tx: Transaction | undefined): Promise<PublishedEvent[]> {
    await this.lookUp(events.map(nameOf), tx);
    const validated = events.map((event) => this.validate(event));
    const answers: PublishedEvent[] = [];
    for (let i = 0; i < validated.length; i += MAX_BATCH) {
      for (const answer of await this.transport.write(validated.slice(i, i + MAX_BATCH), tx)) {
        answers.push(answer);
        this.announce(answer, tx !== undefined);
      }
    }
    return answers;
  }

  private validate({ event, data, userId, idempotencyKey, subject = null }: EventToPublish): ValidatedEvent {
    const name = nameOf({ event });
    const options = { ...(idempotencyKey !== undefined && { idempotencyKey }), ...(subject !== null && { subject }) };
    const verdict = validatePublication(this.catalogue, { name, data, userId, ...options });
    if (!verdict.ok) throw new EventRefusedError(verdict.code, messageOf(verdict.errors), verdict.errors);
    return { name, userId, data: verdict.text, ...options };
  }

  /** Looks up types that this application has not defined, before they are rejected. */
  private async lookUp(names: readonly string[], tx: Transaction | undefined): Promise<void> {
    const now = performance.now();
    const isFresh = (name: string) => now - (this.foreign.get(name)?.at ?? -Infinity) < KNOWN_FOR_MS;
    const unknown = [...new Set(names)].filter((name) => !this.catalogue.findOwn(name) && !isFresh(name));
    if (unknown.length === 0) return;
    const found = await this.transport.find(unknown, tx);
    for (const name of unknown) this.foreign.delete(name);
    for (const type of found) this.foreign.set(type.name, { type, at: now });
    this.catalogue.replaceStored([...this.foreign.values()].map(({ type }) => type));
  }

  private announce(event: PublishedEvent, inTransaction: boolean): void {
    if (!published.hasSubscribers) return;
    published.publish({ published: event, application: this.options.application, inTransaction });
  }
}

const nameOf = ({ event }: Pick<EventToPublish, 'event'>): string => (typeof event === 'string' ? event : event.name);

const refused = (field: string, message: string): EventRefusedError =>
  new EventRefusedError('validation_failed', message, [{ field, code: 'invalid', message } satisfies FieldError]);
