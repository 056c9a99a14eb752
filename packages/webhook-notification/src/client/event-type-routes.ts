import type { CallOptions } from './client-options';
import type { ApiSchema, Request } from './routes';

/** Event types, with their JSON Schemas and examples. */
export const eventTypeRoutes = (request: Request) => ({
  /** Lists all event types. */
  list: (options?: CallOptions): Promise<ApiSchema<'EventType'>[]> => request('GET', '/api/event-types', options),

  /** Returns an event type. */
  read: (name: string, options?: CallOptions): Promise<ApiSchema<'EventType'>> =>
    request('GET', '/api/event-types/{name}', { ...options, path: { name } }),

  /** Declares an event type with a new name. */
  create: (eventType: ApiSchema<'NewEventType'>, options?: CallOptions): Promise<ApiSchema<'EventType'>> =>
    request('POST', '/api/event-types', { ...options, body: eventType }),

  /** Declares or changes an event type. A changed schema is rejected without `force`, because receivers rely on it. */
  save: (
    name: string,
    eventType: ApiSchema<'EventTypeDeclaration'>,
    { force, ...options }: CallOptions & { force?: boolean | undefined } = {},
  ): Promise<ApiSchema<'EventType'>> =>
    request('PUT', '/api/event-types/{name}', {
      ...options,
      path: { name },
      query: force ? { force } : {},
      body: eventType,
    }),

  /** Removes an event type, which can then no longer be published. `application`: the one that declared it, if any. */
  remove: (
    name: string,
    { application, ...options }: CallOptions & { application?: string | undefined } = {},
  ): Promise<ApiSchema<'DeletedEventType'>> =>
    request('DELETE', '/api/event-types/{name}', {
      ...options,
      path: { name },
      query: application === undefined ? {} : { application },
    }),
});
