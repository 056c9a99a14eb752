import { type ClientOptions, createClient, type WebhookServiceClient } from 'webhook-notification';
import { serviceUrl, urlOf } from 'webhook-notification/cli';
import type { CommandLine } from './command-line';

/** The options of every command that calls the service. */
export const SERVICE_OPTIONS = { service: 'string' } as const;
export const SERVICE_HELP =
  'WEBHOOKS_URL is the address of the service (default: http://localhost:3000; --service overrides it), and WEBHOOKS_TOKEN an\naccess token of it.';

const LOOPBACK = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** Whether a token would go to another machine in clear text. */
export function isClearText(text: string): boolean {
  const url = urlOf(text);
  return url?.protocol === 'http:' && !LOOPBACK.test(url.hostname);
}

/**
 * Returns the address of the service, from the option or the environment.
 * @throws Misunderstood when it is not a URL of a service, or the token would go to another machine in clear text
 */
export function addressOf(line: CommandLine): string {
  const given = line.option('service') ?? line.option('url') ?? line.optionalVariable('WEBHOOKS_URL');
  const address = serviceUrlOf(given ?? 'http://localhost:3000');
  // Without the address: it may contain a password.
  if (address === null)
    return line.refuse(
      'WEBHOOKS_URL or --service must be a full URL such as https://hooks.example.com, without a password or query.',
    );
  if (isClearText(address))
    return line.refuse('The token would be sent in clear text: only a service on this machine may be http:.');
  return address;
}

function serviceUrlOf(text: string): string | null {
  try {
    return serviceUrl(text);
  } catch {
    return null;
  }
}

export const tokenOf = (line: CommandLine): string => line.variable('WEBHOOKS_TOKEN', 'an access token of the service');

/** @throws Misunderstood when the address or the token is missing or wrong */
export function connect(line: CommandLine, options: Pick<ClientOptions, 'maxRetries'> = {}): WebhookServiceClient {
  return createClient({ url: addressOf(line), token: tokenOf(line), ...options });
}
