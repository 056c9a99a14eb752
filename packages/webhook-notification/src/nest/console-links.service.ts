import type { ApiSchema } from '../client/routes';
import type { WebhooksClient } from './webhooks.client';

/** What a link may do, how long its session lasts, and where it leads. */
export type ConsoleLinkOptions = Omit<ApiSchema<'CreateConsoleLink'>, 'userId'>;

/** Makes links that sign a user in at the console. The token needs `tokens:manage`, for other users than its own `users:manage`. */
export class ConsoleLinksService {
  constructor(private readonly client: WebhooksClient) {}

  /**
   * A link for this user, good once and for 5 minutes. Its `url` is a path: put the address of the service before it.
   * @throws WebhookServiceError when it was refused, or got no answer
   */
  create(userId: string, options: ConsoleLinkOptions = {}): Promise<ApiSchema<'ConsoleLink'>> {
    return this.client.consoleLinks.create({ ...options, userId });
  }
}
