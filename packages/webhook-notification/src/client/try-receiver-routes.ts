import type { CallOptions } from './client-options';
import type { ApiSchema, Request } from './routes';

/** Test receivers, available when the service runs on a developer machine. */
export const tryReceiverRoutes = (request: Request) => ({
  /** Returns a test receiver that lasts an hour: your existing one, or a new one. */
  create: (options?: CallOptions): Promise<ApiSchema<'TestReceiver'>> => request('POST', '/api/try-receivers', options),

  /** Returns the requests that it has received. */
  read: (id: string, options?: CallOptions): Promise<ApiSchema<'TestReceiverDetail'>> =>
    request('GET', '/api/try-receivers/{id}', { ...options, path: { id } }),

  /** Sets its future responses. */
  update: (
    id: string,
    changes: ApiSchema<'TestReceiverUpdate'>,
    options?: CallOptions,
  ): Promise<ApiSchema<'TestReceiver'>> =>
    request('PATCH', '/api/try-receivers/{id}', { ...options, path: { id }, body: changes }),
});
