import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXAMPLES } from './examples';

interface Parameter {
  name: string;
  in: string;
}
type Operation = { parameters?: Parameter[] };

const { paths } = JSON.parse(readFileSync(join(__dirname, '../../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};

/** Every route of the API, as `GET /api/webhooks`. Those that delete come last: the others need what they delete. */
export const ROUTES = Object.keys(paths)
  .filter((path) => path.startsWith('/api/'))
  .flatMap((path) => Object.keys(paths[path]!).map((method) => `${method.toUpperCase()} ${path}`))
  .sort((a, b) => Number(a.startsWith('DELETE')) - Number(b.startsWith('DELETE')));

/** The names of the query parameters of a route. */
export function queryOf(route: string): string[] {
  const [method, path] = route.split(' ') as [string, string];
  const { parameters = [] } = paths[path]![method.toLowerCase()]!;
  return parameters.filter((one) => one.in === 'query').map(({ name }) => name);
}

/** What a user has of everything that routes are about. */
export interface Belongings {
  push: { id: string; url: string | null };
  /** Its only event has failed. */
  failing: { id: string };
  pull: { id: string };
  /** Leased by a consumer of the pull webhook. */
  messages: readonly { leaseId: string }[];
  event: { id: string; createdAt: string };
  /** To the push webhook, and to the failing one. */
  delivery: { id: string };
  failed: { id: string };
  recovery: { id: string };
  account: { id: string };
  token: { id: string };
  erasureId: string;
  /** An event type, and a user to erase. */
  type: string;
  user: string;
}

export const DECLARED_TYPE = { description: 'A test.', schema: { type: 'object' }, example: {} };

/** The request of a route about what a user has. The webhooks with the external ids `a` and `b` are changed and deleted. */
export function routeRequest(
  route: string,
  { push, failing, pull, ...own }: Belongings,
): { method: string; path: string; body?: object } {
  const [method, path] = route.split(' ') as [string, string];
  const isOfFailing = /recover$|redeliver$/.test(path);
  const webhook = path.includes('/messages/') ? pull : isOfFailing ? failing : push;
  const values: Record<string, string> = {
    '/api/webhooks/{id}': webhook.id,
    '{deliveryId}': isOfFailing ? own.failed.id : own.delivery.id,
    '{recoveryId}': own.recovery.id,
    '{externalId}': method === 'DELETE' ? 'b' : 'a',
    '/api/events/{id}': own.event.id,
    '/api/accounts/{id}': own.account.id,
    '/api/tokens/{id}': own.token.id,
    '/api/erasures/{id}': own.erasureId,
    '/api/try-receivers/{id}': 'a'.repeat(32),
    '{name}': own.type,
    '{userId}': own.user,
  };
  const filled = path.replace(/(\/api\/[\w-]+\/\{id\})|(\{\w+\})/g, (key) => {
    const value = values[key];
    if (value === undefined) throw new Error(`Say in this file which ${key} to use.`);
    return key.startsWith('/') ? key.replace('{id}', value) : value;
  });
  const url = push.url ?? undefined;
  const published = { event: 'job.started', data: EXAMPLES['job.started'] };
  const bodies: Record<string, object> = {
    'POST /api/webhooks': { url, events: ['job.started'] },
    'PATCH /api/webhooks/{id}': { description: 'changed' },
    'POST /api/webhooks/{id}/rotate-secret': {},
    'POST /api/webhooks/{id}/test': {},
    'PUT /api/webhooks/external/{externalId}': { url, events: ['job.started'], description: 'saved' },
    'POST /api/filter-checks': { filter: { event: 'job.started' }, eventId: own.event.id },
    'POST /api/format-previews': { format: 'slack', eventId: own.event.id },
    'POST /api/events': {
      data: EXAMPLES['job.completed'],
      event: 'job.completed',
      subject: 'x',
      idempotencyKey: 'once',
    },
    'POST /api/events/batch': { events: [{ ...published, idempotencyKey: 'batch' }, published] },
    'POST /api/event-types': { name: 'alice.closed', ...DECLARED_TYPE },
    'PUT /api/event-types/{name}': { ...DECLARED_TYPE, description: 'Changed.' },
    'POST /api/webhooks/{id}/deliveries/{deliveryId}/redeliver': {},
    'POST /api/webhooks/{id}/recover': { since: own.event.createdAt },
    'POST /api/webhooks/{id}/messages/lease': {},
    'POST /api/webhooks/{id}/messages/ack': { failed: own.messages.map(({ leaseId }) => ({ leaseId })) },
    'POST /api/try-receivers': {},
    'PATCH /api/try-receivers/{id}': { answer: 200 },
    'POST /api/accounts': { provider: 'push', handle: 'another' },
    'PUT /api/accounts/{id}/followers': { followers: [{ id: '2', username: 'two' }] },
    'POST /api/tokens': { name: 'y', scopes: ['webhooks:read'] },
    'POST /api/console-links': {},
    'POST /api/console-sessions': {},
    'DELETE /api/users/{userId}': { confirm: own.user },
  };
  if (!(route in bodies) && !/^(GET|DELETE) /.test(route))
    throw new Error(`Say in this file what to send to ${route}.`);
  return { method, path: filled, body: bodies[route] };
}
