import { createClient, type WebhookServiceClient } from '../client/create-client';
import type { ServicePlace } from './transport';

/** Nest requires a class as the injection token. */
const Client = Object as unknown as abstract new () => WebhookServiceClient;

/** The client of the service's API as an injectable: the result of `createClient`. */
export abstract class WebhooksClient extends Client {}

/** Every call of it throws: most applications only publish. */
const NOWHERE: ServicePlace = {
  url: 'http://service.invalid',
  token: () => {
    throw new Error('Nobody knows where the service is: give WebhookNotificationModule service: { url, token }.');
  },
};

/** @throws TypeError when url or token is invalid */
export function webhooksClient(place: ServicePlace = NOWHERE): WebhooksClient {
  return createClient(place);
}
