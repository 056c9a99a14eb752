import type { Service } from './service.setup';
import type { Config } from './infrastructure/config/config';
import { version } from './infrastructure/config/version';

interface Started {
  config: Pick<Config, 'role' | 'docs'>;
  notes: readonly string[];
  firstToken: string | null;
}

type Listening = Pick<Service, 'url' | 'consoleLink'>;

/** Returns the text shown after the start: URLs and, on the very first start, the first steps. */
export function welcome({ url, consoleLink }: Listening, { config, notes, firstToken }: Started): string {
  const servesApi = config.role !== 'worker';
  return [
    '',
    `Webhook Notification Service ${version}`,
    ...(servesApi ? [`  API     ${url}/api`] : []),
    ...(consoleLink === null ? [] : [`  Console ${url}${consoleLink}`]),
    ...(servesApi && config.docs ? [`  Docs    ${url}/docs`] : []),
    `  Health  ${url}/health/ready`,
    ...notes.map((note) => `  ${note}`),
    ...(firstToken === null ? [] : firstSteps(url, firstToken)),
    '',
    '',
  ].join('\n');
}

function firstSteps(url: string, token: string): string[] {
  const body = JSON.stringify({ url: 'http://localhost:4000/', events: ['*'] });
  return [
    '',
    'Your first access token:',
    `  ${token}`,
    '',
    'Create a webhook with it:',
    `  curl -s ${url}/api/webhooks -H 'authorization: Bearer ${token}' -H 'content-type: application/json' -d '${body}'`,
  ];
}

export function explainStartFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  if (code === 'EADDRINUSE') return `Port ${port} on ${address} is in use by another program: stop it, or set PORT.`;
  if (code === 'EACCES' && port !== undefined)
    return `Port ${port} may not be opened by this user: set PORT above 1023.`;
  return error.message || code || String(error);
}

export function explainEndFailure(error: unknown): string {
  return `The service has stopped, but an error occurred at the end: ${explainStartFailure(error)}`;
}
