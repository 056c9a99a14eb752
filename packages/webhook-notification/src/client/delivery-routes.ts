import type { CallOptions } from './client-options';
import { type Rows, rowsOf } from './pages';
import type { ApiSchema, Page, QueryOf, Request } from './routes';

type DeliveryQuery = QueryOf<'/api/deliveries'>;
/** A list that follows changes has no end. */
type FiniteQuery = Omit<DeliveryQuery, 'changedAfter' | 'waitSeconds'>;

/** Attempts to send an event to a webhook. */
export const deliveryRoutes = (request: Request) => ({
  /** Lists a page of the deliveries to all your webhooks. With `changedAfter`: those whose status has changed. */
  list: (query: DeliveryQuery = {}, options?: CallOptions): Promise<Page<ApiSchema<'Delivery'>>> =>
    request('GET', '/api/deliveries', { ...options, query }),

  /** Iterates over all deliveries to all your webhooks, newest first, page by page. */
  all: (query: FiniteQuery = {}, options?: CallOptions): Rows<ApiSchema<'Delivery'>> =>
    rowsOf(query, (page) => request('GET', '/api/deliveries', { ...options, query: page })),

  /** Counts the deliveries to all your webhooks. Exact up to 10,000 deliveries read; beyond, `atLeast` is true. */
  count: (query: QueryOf<'/api/deliveries/count'> = {}, options?: CallOptions): Promise<ApiSchema<'DeliveryCount'>> =>
    request('GET', '/api/deliveries/count', { ...options, query }),

  /** Returns a delivery, with the exact request and response. */
  read: (deliveryId: string, options?: CallOptions): Promise<ApiSchema<'DeliveryDetail'>> =>
    request('GET', '/api/deliveries/{deliveryId}', { ...options, path: { deliveryId } }),

  /** Lists a page of the deliveries to one webhook. */
  listOf: (webhookId: string, query: DeliveryQuery = {}, options?: CallOptions): Promise<Page<ApiSchema<'Delivery'>>> =>
    request('GET', '/api/webhooks/{id}/deliveries', { ...options, path: { id: webhookId }, query }),

  /** Iterates over all deliveries to one webhook, newest first, page by page. */
  allOf: (webhookId: string, query: FiniteQuery = {}, options?: CallOptions): Rows<ApiSchema<'Delivery'>> =>
    rowsOf(query, (page) =>
      request('GET', '/api/webhooks/{id}/deliveries', {
        ...options,
        path: { id: webhookId },
        query: page,
      }),
    ),

  /** Returns a delivery to this webhook. */
  readOf: (webhookId: string, deliveryId: string, options?: CallOptions): Promise<ApiSchema<'DeliveryDetail'>> =>
    request('GET', '/api/webhooks/{id}/deliveries/{deliveryId}', { ...options, path: { id: webhookId, deliveryId } }),

  /** Sends the event of a delivery again, or makes its pending attempt due now. */
  redeliver: (webhookId: string, deliveryId: string, options?: CallOptions): Promise<ApiSchema<'Delivery'>> =>
    request('POST', '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver', {
      ...options,
      path: { id: webhookId, deliveryId },
    }),
});
