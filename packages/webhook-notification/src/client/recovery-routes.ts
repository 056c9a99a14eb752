import type { CallOptions } from './client-options';
import { type Rows, rowsOf } from './pages';
import type { ApiSchema, Page, QueryOf, Request } from './routes';

type Missed = Omit<ApiSchema<'RecoveryRequest'>, 'dryRun'>;
type RecoveryQuery = QueryOf<'/api/webhooks/{id}/recoveries'>;

/** Redeliveries of all events that a webhook has missed since a given time. */
export const recoveryRoutes = (request: Request) => ({
  /** Starts redelivering missed events. The service continues by itself. */
  start: (webhookId: string, missed: Missed, options?: CallOptions) =>
    request('POST', '/api/webhooks/{id}/recover', {
      ...options,
      path: { id: webhookId },
      body: { ...missed, dryRun: false },
    }) as Promise<ApiSchema<'Recovery'>>,

  /** Counts the events that would be sent, without sending any. */
  count: (webhookId: string, missed: Missed, options?: CallOptions) =>
    request('POST', '/api/webhooks/{id}/recover', {
      ...options,
      path: { id: webhookId },
      body: { ...missed, dryRun: true },
    }) as Promise<{ count: number }>,

  /** Lists a page of the recoveries of a webhook, newest first. */
  list: (webhookId: string, query: RecoveryQuery = {}, options?: CallOptions): Promise<Page<ApiSchema<'Recovery'>>> =>
    request('GET', '/api/webhooks/{id}/recoveries', { ...options, path: { id: webhookId }, query }),

  /** Iterates over all recoveries of a webhook, newest first, page by page. */
  all: (webhookId: string, query: RecoveryQuery = {}, options?: CallOptions): Rows<ApiSchema<'Recovery'>> =>
    rowsOf(query, (page) =>
      request('GET', '/api/webhooks/{id}/recoveries', {
        ...options,
        path: { id: webhookId },
        query: page,
      }),
    ),

  /** Returns the progress of a recovery. */
  read: (webhookId: string, recoveryId: string, options?: CallOptions): Promise<ApiSchema<'Recovery'>> =>
    request('GET', '/api/webhooks/{id}/recoveries/{recoveryId}', { ...options, path: { id: webhookId, recoveryId } }),
});
