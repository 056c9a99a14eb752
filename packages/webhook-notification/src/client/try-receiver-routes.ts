import type { CallOptions } from './client-options';
import type { ApiSchema, Request } from './routes';

/** Receivers to try with, where the service runs on the machine of who tries it. */
export const tryReceiverRoutes = (request: Request) => ({
  /** Gets a receiver for an hour: the one that you have, or a new one. */
  create: (options?: CallOptions): Promise<ApiSchema<'TryReceiver'>> => request('POST', '/api/try-receivers', options),

  /** Reads what it has got. */
  read: (id: string, options?: CallOptions): Promise<ApiSchema<'TryReceiverDetail'>> =>
    request('GET', '/api/try-receivers/{id}', { ...options, path: { id } }),

  /** Says what it answers from now on. */
  update: (
    id: string,
    changes: ApiSchema<'UpdateTryReceiver'>,
    options?: CallOptions,
  ): Promise<ApiSchema<'TryReceiver'>> =>
    request('PATCH', '/api/try-receivers/{id}', { ...options, path: { id }, body: changes }),
});
