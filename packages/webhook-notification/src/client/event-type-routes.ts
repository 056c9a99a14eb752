import type { CallOptions } from './client-options';
import type { ApiSchema, Request } from './routes';

/** Which events there are, with their JSON Schemas and examples. */
export const eventTypeRoutes = (request: Request) => ({
  /** Lists all of them. */
  list: (options?: CallOptions): Promise<ApiSchema<'EventType'>[]> => request('GET', '/api/event-types', options),

  /** Declares an event type of a new name. */
  create: (eventType: ApiSchema<'CreateEventType'>, options?: CallOptions): Promise<ApiSchema<'EventType'>> =>
    request('POST', '/api/event-types', { ...options, body: eventType }),

  /** Declares an event type, or changes it. Another schema is refused without `force`: receivers rely on it. */
  save: (
    name: string,
    eventType: ApiSchema<'SaveEventType'>,
    { force, ...options }: CallOptions & { force?: boolean | undefined } = {},
  ): Promise<ApiSchema<'EventType'>> =>
    request('PUT', '/api/event-types/{name}', {
      ...options,
      path: { name },
      query: force ? { force } : {},
      body: eventType,
    }),

  /** Nobody can publish it any more. `application`: the one that has declared it, where one has. */
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
