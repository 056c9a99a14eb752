import type { ApiSchema } from '../client/routes';
import type { WebhooksClient } from './webhooks.client';

/** The scopes of a link, the duration of its session, and its target. */
export type ConsoleLinkOptions = Omit<ApiSchema<'NewConsoleLink'>, 'userId'>;

/**
 * Creates links that sign a user in at the console. The token requires `tokens:manage`, and `users:manage` for other
 * users than its own.
 */
export class ConsoleLinksService {
  constructor(private readonly client: WebhooksClient) {}

  /**
   * Creates a single-use link for this user, valid for 5 minutes. Its `url` is a path: put the URL of the service
   * before it.
   * @throws WebhookServiceError when the request was rejected, or got no response
   */
  create(userId: string, options: ConsoleLinkOptions = {}): Promise<ApiSchema<'ConsoleLink'>> {
    return this.client.consoleLinks.create({ ...options, userId });
  }
}
