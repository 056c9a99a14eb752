import { randomUUID } from 'node:crypto';
import type { EventName, EventPayloads } from '../events/payloads';
import type { CallOptions } from './client-options';
import { type Rows, rowsOf } from './pages';
import type { ApiSchema, Page, QueryOf, Request } from './routes';

/** An event to publish. The data of a name in `EventPayloads` must have the type declared there. */
export interface NewEvent<Name extends string = string> extends Omit<ApiSchema<'NewEvent'>, 'event' | 'data'> {
  event: Name;
  data: Name extends EventName ? EventPayloads[Name] : object;
}

export interface PublishCallOptions extends CallOptions {
  /** W3C Trace Context: the deliveries carry the same trace id. */
  traceparent?: string | undefined;
}

/** Events, which the service delivers to every webhook that subscribes to them. */
export const eventRoutes = (request: Request) => ({
  /**
   * Publishes an event: it is accepted when this resolves. Without an `idempotencyKey` it gets a generated one, so that
   * it can be sent again when no response arrived. `duplicate` is then true when the first attempt had arrived after
   * all.
   */
  publish: <Name extends string>(
    event: NewEvent<Name>,
    options?: PublishCallOptions,
  ): Promise<ApiSchema<'PublishedEvent'>> =>
    request('POST', '/api/events', { ...publishing(options), body: withKey(event) }),

  /** Publishes 1 to 100 events, all of them or none, and returns them in order. Each gets a key, as above. */
  publishBatch: <Names extends readonly string[]>(
    events: { readonly [I in keyof Names]: NewEvent<Names[I]> },
    options?: PublishCallOptions,
  ): Promise<ApiSchema<'PublishedEvent'>[]> =>
    request('POST', '/api/events/batch', { ...publishing(options), body: { events: events.map(withKey) } }),

  /** Lists a page of the events that you may see, newest first. */
  list: (query: QueryOf<'/api/events'> = {}, options?: CallOptions): Promise<Page<ApiSchema<'Event'>>> =>
    request('GET', '/api/events', { ...options, query }),

  /** Iterates over all events that you may see, newest first, page by page. */
  all: (query: QueryOf<'/api/events'> = {}, options?: CallOptions): Rows<ApiSchema<'Event'>> =>
    rowsOf(query, (page) => request('GET', '/api/events', { ...options, query: page })),

  /** Returns an event, with its deliveries to your webhooks. */
  read: (id: string, options?: CallOptions): Promise<ApiSchema<'EventDetail'>> =>
    request('GET', '/api/events/{id}', { ...options, path: { id } }),
});

const withKey = (event: NewEvent) =>
  ({ ...event, idempotencyKey: event.idempotencyKey ?? randomUUID() }) as ApiSchema<'NewEvent'>;

/** With a key, the service publishes an event once, no matter how often it is sent. */
const publishing = ({ traceparent, ...options }: PublishCallOptions = {}) => ({
  ...options,
  repeatable: options.repeatable ?? true,
  ...(traceparent === undefined ? {} : { header: { traceparent } }),
});
