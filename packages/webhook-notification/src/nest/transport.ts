import type { KnownEventType } from '../catalogue/event-catalogue';
import type { ClientOptions } from '../client/client-options';
import type { Transaction } from './transaction';

/** The URL of the service, and the application's token. */
export type ServicePlace = Pick<ClientOptions, 'url' | 'token'>;

/** A validated event, ready to be written. */
export interface ValidatedEvent {
  name: string;
  userId: string | null;
  /** The JSON text of its data. */
  data: string;
  idempotencyKey?: string;
  /** Absent for an event without a subject. */
  subject?: string;
}

/** A published event: part of the caller's transaction, or committed when there is none. */
export interface PublishedEvent {
  /** Null with the http transport, where the service assigns it later. */
  id: string | null;
  event: string;
  userId: string | null;
  createdAt: Date;
  /** True when the idempotency key had already published it. Always false with the http transport, which cannot know yet. */
  duplicate: boolean;
}

/** How an application's events reach the service. */
export interface Transport {
  /** The service's URL and token, if the transport has them. */
  readonly service?: ServicePlace | undefined;
  /** Declares the application's types. Called once, when the application starts. */
  start(application: string, types: readonly KnownEventType[]): Promise<void>;
  stop(): Promise<void>;
  /** Writes events in the transaction, or in its own. Returns one result for each, in order. */
  write(events: readonly ValidatedEvent[], tx?: Transaction): Promise<PublishedEvent[]>;
  /**
   * Finds the event types with these names that others have declared, in the transaction: a pool of one connection has no other.
   */
  find(names: readonly string[], tx?: Transaction): Promise<KnownEventType[]>;
}
