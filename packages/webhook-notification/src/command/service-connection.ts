import type { ClientOptions } from '../client/client-options';
import { createClient, type WebhookServiceClient } from '../client/create-client';
import type { CommandLine } from './command-line';

/** The options of every command that calls the service. */
export const SERVICE_OPTIONS = { service: 'string' } as const;
export const SERVICE_HELP =
  'The service is --service (http://localhost:3000 by default); its access token is in WEBHOOKS_TOKEN.';

const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Whether a token would go to another machine in clear text. */
export const isClearText = (url: string): boolean =>
  URL.canParse(url) && new URL(url).protocol === 'http:' && !LOOPBACK.test(new URL(url).hostname);

/** @throws Misunderstood when the token is missing, or would go to another machine in clear text */
export function connect(line: CommandLine, options: Pick<ClientOptions, 'maxRetries'> = {}): WebhookServiceClient {
  const url = line.option('service') ?? 'http://localhost:3000';
  const token = line.variable('WEBHOOKS_TOKEN', 'an access token of the service');
  if (isClearText(url))
    return line.refuse('The token would be sent in clear text: only a service on this machine may be http:.');
  return createClient({ url, token, ...options });
}
