import { consoleLinkRoutes, consoleSessionRoutes, tokenRoutes } from './access-routes';
import { accountRoutes } from './account-routes';
import { type CallOptions, type ClientOptions, settingsOf } from './client-options';
import { deliveryRoutes } from './delivery-routes';
import { erasureRoutes } from './erasure-routes';
import { eventRoutes } from './event-routes';
import { eventTypeRoutes } from './event-type-routes';
import { messageRoutes } from './message-routes';
import { recoveryRoutes } from './recovery-routes';
import type { ApiSchema, QueryOf, Request } from './routes';
import { type Call, send } from './send';
import { tryReceiverRoutes } from './try-receiver-routes';
import { webhookRoutes } from './webhook-routes';

/** The API of the service, with one token. Every method throws WebhookServiceError when its request fails. */
export interface WebhookServiceClient {
  readonly webhooks: ReturnType<typeof webhookRoutes>;
  readonly deliveries: ReturnType<typeof deliveryRoutes>;
  readonly messages: ReturnType<typeof messageRoutes>;
  readonly recoveries: ReturnType<typeof recoveryRoutes>;
  readonly events: ReturnType<typeof eventRoutes>;
  readonly eventTypes: ReturnType<typeof eventTypeRoutes>;
  readonly accounts: ReturnType<typeof accountRoutes>;
  readonly tokens: ReturnType<typeof tokenRoutes>;
  readonly consoleLinks: ReturnType<typeof consoleLinkRoutes>;
  readonly consoleSessions: ReturnType<typeof consoleSessionRoutes>;
  readonly erasures: ReturnType<typeof erasureRoutes>;
  readonly tryReceivers: ReturnType<typeof tryReceiverRoutes>;
  /** Returns counts of attempts and their outcomes over time, for all your webhooks or for one. */
  stats(query?: QueryOf<'/api/stats'>, options?: CallOptions): Promise<ApiSchema<'Stats'>>;
  /** Returns the id, the user, the scopes and the expiry of the token. */
  me(options?: CallOptions): Promise<ApiSchema<'Me'>>;
  /** Returns the version of the service, and the settings that affect clients. */
  about(options?: CallOptions): Promise<ApiSchema<'About'>>;
  /** Calls any route, typed like the methods: `request('GET', '/api/webhooks/{id}', { path: { id } })`. */
  readonly request: Request;
}

/**
 * Creates a client of the service. It connects with the first request, keeps nothing open, and need not be closed.
 * @throws TypeError when an option is invalid
 */
export function createClient(options: ClientOptions): WebhookServiceClient {
  const settings = settingsOf(options);
  const request = ((method, route, call: Call = {}) => send(settings, method, route, call)) as Request;
  return {
    webhooks: webhookRoutes(request),
    deliveries: deliveryRoutes(request),
    messages: messageRoutes(request),
    recoveries: recoveryRoutes(request),
    events: eventRoutes(request),
    eventTypes: eventTypeRoutes(request),
    accounts: accountRoutes(request),
    tokens: tokenRoutes(request),
    consoleLinks: consoleLinkRoutes(request),
    consoleSessions: consoleSessionRoutes(request),
    erasures: erasureRoutes(request),
    tryReceivers: tryReceiverRoutes(request),
    stats: (query = {}, call = {}) => request('GET', '/api/stats', { ...call, query }),
    me: (call) => request('GET', '/api/me', call),
    about: (call) => request('GET', '/api/about', call),
    request,
  };
}
