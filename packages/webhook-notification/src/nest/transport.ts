import type { KnownEventType } from '../catalogue/event-catalogue';
import type { ClientOptions } from '../client/client-options';
import type { Transaction } from './transaction';

/** Where the service is, and as whom the application uses its API. */
export type ServicePlace = Pick<ClientOptions, 'url' | 'token'>;

/** An event that was found right, to be written. */
export interface JudgedEvent {
  name: string;
  userId: string | null;
  /** The JSON text of its data. */
  data: string;
  idempotencyKey?: string;
}

/** An event that is published: with the caller's transaction, or for good when there is none. */
export interface PublishedEvent {
  /** Null with the http transport, where the service gives it later. */
  id: string | null;
  event: string;
  userId: string | null;
  createdAt: Date;
  /** True when the idempotency key had already published it. Always false with the http transport, which learns it later. */
  duplicate: boolean;
}

/** How the events of an application come to the service. */
export interface Transport {
  /** Where the service is, if the transport knows. */
  readonly service?: ServicePlace | undefined;
  /** Declares the application's types. Called once, when the application starts. */
  start(application: string, types: readonly KnownEventType[]): Promise<void>;
  stop(): Promise<void>;
  /** Writes events in the transaction, or in one of its own. Answers one for each, in order. */
  write(events: readonly JudgedEvent[], tx?: Transaction): Promise<PublishedEvent[]>;
  /** The event types with these names that others have declared. */
  find(names: readonly string[]): Promise<KnownEventType[]>;
}
