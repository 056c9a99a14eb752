import type { CallOptions } from './client-options';
import { type Rows, rowsOf } from './pages';
import type { ApiSchema, Page, QueryOf, Request } from './routes';

type Missed = Omit<ApiSchema<'Recover'>, 'dryRun'>;
type RecoveryQuery = QueryOf<'/api/webhooks/{id}/recoveries'>;

/** Redeliveries of everything that a webhook has missed since a time. */
export const recoveryRoutes = (request: Request) => ({
  /** Begins to send again what the webhook has missed. The service goes on by itself. */
  start: (webhookId: string, missed: Missed, options?: CallOptions) =>
    request('POST', '/api/webhooks/{id}/recover', {
      ...options,
      path: { id: webhookId },
      body: { ...missed, dryRun: false },
    }) as Promise<ApiSchema<'Recovery'>>,

  /** Counts what that would send, and sends nothing. */
  count: (webhookId: string, missed: Missed, options?: CallOptions) =>
    request('POST', '/api/webhooks/{id}/recover', {
      ...options,
      path: { id: webhookId },
      body: { ...missed, dryRun: true },
    }) as Promise<ApiSchema<'RecoveryCount'>>,

  /** Lists a page of the recoveries of a webhook, newest first. */
  list: (webhookId: string, query: RecoveryQuery = {}, options?: CallOptions): Promise<Page<ApiSchema<'Recovery'>>> =>
    request('GET', '/api/webhooks/{id}/recoveries', { ...options, path: { id: webhookId }, query }),

  /** All recoveries of a webhook, newest first, page after page. */
  all: (webhookId: string, query: RecoveryQuery = {}, options?: CallOptions): Rows<ApiSchema<'Recovery'>> =>
    rowsOf(query, (page) =>
      request('GET', '/api/webhooks/{id}/recoveries', {
        ...options,
        path: { id: webhookId },
        query: page,
      }),
    ),

  /** Says how far a recovery is. */
  read: (webhookId: string, recoveryId: string, options?: CallOptions): Promise<ApiSchema<'Recovery'>> =>
    request('GET', '/api/webhooks/{id}/recoveries/{recoveryId}', { ...options, path: { id: webhookId, recoveryId } }),
});
