import type { CallOptions } from './client-options';
import type { ApiSchema, Request } from './routes';

/** The deliveries of pull webhooks, for consumers. Requires the scope `messages:pull`. */
export const messageRoutes = (request: Request) => ({
  /** Leases due messages, the oldest first; with `waitSeconds`, waits for the first one. */
  lease: (
    webhookId: string,
    wanted: ApiSchema<'LeaseRequest'> = {},
    options?: CallOptions,
  ): Promise<ApiSchema<'Message'>[]> =>
    request('POST', '/api/webhooks/{id}/messages/lease', { ...options, path: { id: webhookId }, body: wanted }),

  /** Ends leases: of messages that were processed, and of those that were not, which are retried. */
  acknowledge: (
    webhookId: string,
    leases: ApiSchema<'Acknowledgement'>,
    options?: CallOptions,
  ): Promise<ApiSchema<'AcknowledgedLeases'>> =>
    request('POST', '/api/webhooks/{id}/messages/ack', { ...options, path: { id: webhookId }, body: leases }),
});
