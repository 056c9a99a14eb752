import { randomUUID } from 'node:crypto';
import type { EventName, EventPayloads } from '../events/payloads';
import type { CallOptions } from './client-options';
import { type Rows, rowsOf } from './pages';
import type { ApiSchema, Page, QueryOf, Request } from './routes';

/** An event before it is published. The data of a name in `EventPayloads` must be what stands there. */
export interface NewEvent<Name extends string = string> extends Omit<ApiSchema<'PublishEvent'>, 'event' | 'data'> {
  event: Name;
  data: Name extends EventName ? EventPayloads[Name] : object;
}

export interface PublishCallOptions extends CallOptions {
  /** W3C Trace Context: the deliveries carry the same trace id. */
  traceparent?: string | undefined;
}

/** What happened, told to every webhook that subscribes to it. */
export const eventRoutes = (request: Request) => ({
  /**
   * Publishes an event: it is accepted when this resolves. Without an `idempotencyKey` it gets one of its own, so that it
   * can be sent again when no answer came. `duplicate` is then true when the first attempt had arrived after all.
   */
  publish: <Name extends string>(
    event: NewEvent<Name>,
    options?: PublishCallOptions,
  ): Promise<ApiSchema<'PublishedEvent'>> =>
    request('POST', '/api/events', { ...publishing(options), body: withKey(event) }),

  /** Publishes 1 to 100 events, all of them or none, and answers them in their order. Each gets a key, as above. */
  publishBatch: <Names extends readonly string[]>(
    events: { readonly [I in keyof Names]: NewEvent<Names[I]> },
    options?: PublishCallOptions,
  ): Promise<ApiSchema<'PublishedEvent'>[]> =>
    request('POST', '/api/events/batch', { ...publishing(options), body: { events: events.map(withKey) } }),

  /** Lists a page of the events that you may see, newest first. */
  list: (query: QueryOf<'/api/events'> = {}, options?: CallOptions): Promise<Page<ApiSchema<'Event'>>> =>
    request('GET', '/api/events', { ...options, query }),

  /** All events that you may see, newest first, page after page. */
  all: (query: QueryOf<'/api/events'> = {}, options?: CallOptions): Rows<ApiSchema<'Event'>> =>
    rowsOf(query, (page) => request('GET', '/api/events', { ...options, query: page })),

  /** Reads an event, with its deliveries to your webhooks. */
  read: (id: string, options?: CallOptions): Promise<ApiSchema<'EventDetail'>> =>
    request('GET', '/api/events/{id}', { ...options, path: { id } }),
});

const withKey = (event: NewEvent) =>
  ({ ...event, idempotencyKey: event.idempotencyKey ?? randomUUID() }) as ApiSchema<'PublishEvent'>;

/** With a key the service publishes an event once, however often it is sent. */
const publishing = ({ traceparent, ...options }: PublishCallOptions = {}) => ({
  ...options,
  repeatable: options.repeatable ?? true,
  ...(traceparent === undefined ? {} : { header: { traceparent } }),
});
