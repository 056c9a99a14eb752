import type { CallOptions } from './client-options';
import { type Rows, rowsOf } from './pages';
import type { ApiSchema, Page, QueryOf, Request } from './routes';

type WebhookQuery = QueryOf<'/api/webhooks'>;

/** Webhooks. */
export const webhookRoutes = (request: Request) => ({
  ...routesByExternalId(request),
  ...previewRoutes(request),

  /** Creates a webhook. Only this response contains a secret that the service generated. */
  create: (webhook: ApiSchema<'NewWebhook'>, options?: CallOptions): Promise<ApiSchema<'CreatedWebhook'>> =>
    request('POST', '/api/webhooks', { ...options, body: webhook }),

  /** Lists a page of your webhooks, newest first. */
  list: (query: WebhookQuery = {}, options?: CallOptions): Promise<Page<ApiSchema<'Webhook'>>> =>
    request('GET', '/api/webhooks', { ...options, query }),

  /** Iterates over all your webhooks, newest first, page by page. */
  all: (query: WebhookQuery = {}, options?: CallOptions): Rows<ApiSchema<'Webhook'>> =>
    rowsOf(query, (page) => request('GET', '/api/webhooks', { ...options, query: page })),

  /** Returns a webhook. */
  read: (id: string, options?: CallOptions): Promise<ApiSchema<'Webhook'>> =>
    request('GET', '/api/webhooks/{id}', { ...options, path: { id } }),

  /** Changes the given fields. */
  update: (id: string, changes: ApiSchema<'WebhookUpdate'>, options?: CallOptions): Promise<ApiSchema<'Webhook'>> =>
    request('PATCH', '/api/webhooks/{id}', { ...options, path: { id }, body: changes }),

  /** Deletes a webhook, and cancels its pending deliveries. */
  remove: (id: string, options?: CallOptions): Promise<ApiSchema<'DeletedWebhook'>> =>
    request('DELETE', '/api/webhooks/{id}', { ...options, path: { id } }),

  /** Generates a new secret, or sets yours. The previous one also signs for a day, or for `overlapSeconds`; until then, `force` is required. */
  rotateSecret: (
    id: string,
    rotation: ApiSchema<'SecretRotation'> = {},
    options?: CallOptions,
  ): Promise<ApiSchema<'RotatedSecret'>> =>
    request('POST', '/api/webhooks/{id}/rotate-secret', { ...options, path: { id }, body: rotation }),

  /** Sends a test delivery now, with the example of `event` if given, and returns its outcome. */
  test: (
    id: string,
    test: ApiSchema<'TestDeliveryRequest'> = {},
    options?: CallOptions,
  ): Promise<ApiSchema<'TestDelivery'>> =>
    request('POST', '/api/webhooks/{id}/test', { ...options, path: { id }, body: test }),
});

/** Webhooks by ids of their owner. */
const routesByExternalId = (request: Request) => ({
  /** Creates or replaces the webhook with this id of your own. A response with a secret says that it is new. */
  save: (
    externalId: string,
    webhook: ApiSchema<'WebhookDeclaration'>,
    options?: CallOptions,
  ): Promise<ApiSchema<'Webhook'> | ApiSchema<'CreatedWebhook'>> =>
    request('PUT', '/api/webhooks/external/{externalId}', { ...options, path: { externalId }, body: webhook }),

  /** Returns the webhook with this id of your own. */
  readByExternalId: (externalId: string, options?: CallOptions): Promise<ApiSchema<'Webhook'>> =>
    request('GET', '/api/webhooks/external/{externalId}', { ...options, path: { externalId } }),

  /** Deletes the webhook with this id of your own, and cancels its pending deliveries. */
  removeByExternalId: (externalId: string, options?: CallOptions): Promise<ApiSchema<'DeletedWebhook'>> =>
    request('DELETE', '/api/webhooks/external/{externalId}', { ...options, path: { externalId } }),
});

/** Previews of filters and formats. */
const previewRoutes = (request: Request) => ({
  /** Tells whether an event matches a filter, and which operators do not hold. */
  checkFilter: (check: ApiSchema<'FilterCheckRequest'>, options?: CallOptions): Promise<ApiSchema<'FilterCheck'>> =>
    request('POST', '/api/filter-checks', { ...options, body: check }),

  /** Returns the body that an event has in a format. Sends nothing. */
  previewFormat: (
    preview: ApiSchema<'FormatPreviewRequest'>,
    options?: CallOptions,
  ): Promise<ApiSchema<'FormatPreview'>> => request('POST', '/api/format-previews', { ...options, body: preview }),
});
