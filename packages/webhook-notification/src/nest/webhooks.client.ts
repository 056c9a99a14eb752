import { createClient, type WebhookServiceClient } from '../client/create-client';
import type { ServicePlace } from './transport';

/** What Nest injects is named by a class. */
const Client = Object as unknown as abstract new () => WebhookServiceClient;

/** The client of the service's API, to inject: what `createClient` makes. */
export abstract class WebhooksClient extends Client {}

/** Every call of it throws: most applications publish, and need no more. */
const NOWHERE: ServicePlace = {
  url: 'http://service.invalid',
  token: () => {
    throw new Error('Nobody knows where the service is: give WebhookNotificationModule service: { url, token }.');
  },
};

/** @throws TypeError when url or token is not what it must be */
export function webhooksClient(place: ServicePlace = NOWHERE): WebhooksClient {
  return createClient(place);
}
