import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fetch } from './client-options';
import { createClient, type WebhookServiceClient } from './create-client';

const { paths } = JSON.parse(readFileSync(join(__dirname, '../../../../openapi.json'), 'utf8')) as {
  paths: Record<string, object>;
};
const OPERATIONS = Object.entries(paths)
  .filter(([path]) => path.startsWith('/api/'))
  .flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`));

type Calls = ((client: WebhookServiceClient) => Promise<unknown>)[];
const first = (rows: AsyncGenerator<unknown>) => rows.next();
const since = '2026-01-15T09:30:00Z';
const event = { event: 'a.b', data: {} };

/** The methods for each operation. Each path parameter is passed its own name. */
const METHODS: Record<string, Calls> = {
  'POST /api/webhooks': [(to) => to.webhooks.create({ url: 'https://example.com', events: ['*'] })],
  'GET /api/webhooks': [(to) => to.webhooks.list(), (to) => first(to.webhooks.all())],
  'GET /api/webhooks/{id}': [(to) => to.webhooks.read('id')],
  'PATCH /api/webhooks/{id}': [(to) => to.webhooks.update('id', { active: true })],
  'DELETE /api/webhooks/{id}': [(to) => to.webhooks.remove('id')],
  'PUT /api/webhooks/external/{externalId}': [
    (to) => to.webhooks.save('externalId', { url: 'https://example.com', events: ['*'] }),
  ],
  'GET /api/webhooks/external/{externalId}': [(to) => to.webhooks.readByExternalId('externalId')],
  'DELETE /api/webhooks/external/{externalId}': [(to) => to.webhooks.removeByExternalId('externalId')],
  'POST /api/filter-checks': [(to) => to.webhooks.checkFilter({ filter: null, eventId: 'a' })],
  'POST /api/format-previews': [(to) => to.webhooks.previewFormat({ format: 'slack', eventId: 'a' })],
  'POST /api/webhooks/{id}/rotate-secret': [(to) => to.webhooks.rotateSecret('id')],
  'POST /api/webhooks/{id}/test': [(to) => to.webhooks.test('id')],
  'GET /api/webhooks/{id}/deliveries': [(to) => to.deliveries.listOf('id'), (to) => first(to.deliveries.allOf('id'))],
  'GET /api/webhooks/{id}/deliveries/{deliveryId}': [(to) => to.deliveries.readOf('id', 'deliveryId')],
  'POST /api/webhooks/{id}/deliveries/{deliveryId}/redeliver': [(to) => to.deliveries.redeliver('id', 'deliveryId')],
  'POST /api/webhooks/{id}/recover': [
    (to) => to.recoveries.start('id', { since }),
    (to) => to.recoveries.count('id', { since }),
  ],
  'GET /api/webhooks/{id}/recoveries': [(to) => to.recoveries.list('id'), (to) => first(to.recoveries.all('id'))],
  'GET /api/webhooks/{id}/recoveries/{recoveryId}': [(to) => to.recoveries.read('id', 'recoveryId')],
  'POST /api/webhooks/{id}/messages/lease': [(to) => to.messages.lease('id')],
  'POST /api/webhooks/{id}/messages/ack': [(to) => to.messages.acknowledge('id', { succeeded: ['a'] })],
  'GET /api/deliveries': [(to) => to.deliveries.list(), (to) => first(to.deliveries.all())],
  'GET /api/deliveries/count': [(to) => to.deliveries.count()],
  'GET /api/deliveries/{deliveryId}': [(to) => to.deliveries.read('deliveryId')],
  'GET /api/stats': [(to) => to.stats()],
  'POST /api/events': [(to) => to.events.publish(event)],
  'POST /api/events/batch': [(to) => to.events.publishBatch([event])],
  'GET /api/events': [(to) => to.events.list(), (to) => first(to.events.all())],
  'GET /api/events/{id}': [(to) => to.events.read('id')],
  'GET /api/event-types': [(to) => to.eventTypes.list()],
  'POST /api/event-types': [(to) => to.eventTypes.create({ name: 'a.b', description: 'A.' })],
  'GET /api/event-types/{name}': [(to) => to.eventTypes.read('name')],
  'PUT /api/event-types/{name}': [(to) => to.eventTypes.save('name', { description: 'A.' })],
  'DELETE /api/event-types/{name}': [(to) => to.eventTypes.remove('name')],
  'POST /api/accounts': [(to) => to.accounts.create({ provider: 'push', handle: 'a' })],
  'GET /api/accounts': [(to) => to.accounts.list(), (to) => first(to.accounts.all())],
  'GET /api/accounts/{id}': [(to) => to.accounts.read('id')],
  'DELETE /api/accounts/{id}': [(to) => to.accounts.remove('id')],
  'PUT /api/accounts/{id}/followers': [(to) => to.accounts.putFollowers('id', { followers: [] })],
  'POST /api/tokens': [(to) => to.tokens.create({ name: 'a', scopes: [] })],
  'GET /api/tokens': [(to) => to.tokens.list(), (to) => first(to.tokens.all())],
  'DELETE /api/tokens/{id}': [(to) => to.tokens.revoke('id')],
  'POST /api/console-links': [(to) => to.consoleLinks.create()],
  'POST /api/console-sessions': [(to) => to.consoleSessions.create(), (to) => to.consoleSessions.create({ code: 'a' })],
  'DELETE /api/console-sessions': [(to) => to.consoleSessions.end()],
  'DELETE /api/users/{userId}': [(to) => to.erasures.start('userId')],
  'GET /api/erasures': [(to) => to.erasures.list(), (to) => first(to.erasures.all())],
  'GET /api/erasures/{id}': [(to) => to.erasures.read('id')],
  'POST /api/try-receivers': [(to) => to.tryReceivers.create()],
  'GET /api/try-receivers/{id}': [(to) => to.tryReceivers.read('id')],
  'PATCH /api/try-receivers/{id}': [(to) => to.tryReceivers.update('id', { answer: 500 })],
  'GET /api/me': [(to) => to.me()],
  'GET /api/about': [(to) => to.about()],
};

function recordingClient() {
  const requests: string[] = [];
  const fetch: Fetch = (url, { method }) => {
    requests.push(`${method} ${new URL(url).pathname}`);
    return Promise.resolve(Response.json({ success: true, data: [], nextCursor: null }));
  };
  return { client: createClient({ url: 'http://service.test', token: 'token', fetch }), requests };
}

/** Returns the client, and the names of all of its functions that were accessed: `webhooks.create`. */
function watched(client: WebhookServiceClient): { client: WebhookServiceClient; used: Set<string> } {
  const used = new Set<string>();
  const watch = <T extends object>(object: T, prefix: string): T =>
    new Proxy(object, {
      get(target, name: string) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value === 'object' && value !== null) return watch(value, `${prefix}${name}.`);
        used.add(prefix + name);
        return value;
      },
    });
  return { client: watch(client, ''), used };
}

const functionsOf = (object: object, prefix = ''): string[] =>
  Object.entries(object).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null ? functionsOf(value, `${prefix}${name}.`) : [prefix + name],
  );

describe('The methods of the client', () => {
  it('call every operation of openapi.json', async () => {
    expect(Object.keys(METHODS).sort()).toEqual([...OPERATIONS].sort());
    expect(OPERATIONS.length).toBeGreaterThan(30);
    for (const [operation, calls] of Object.entries(METHODS)) {
      const { client, requests } = recordingClient();
      for (const call of calls) await call(client);
      expect(requests).toEqual(calls.map(() => operation.replaceAll(/[{}]/g, '')));
    }
  });

  it('are all covered by this list', async () => {
    const { client, used } = watched(recordingClient().client);
    for (const call of Object.values(METHODS).flat()) await call(client);
    expect([...used].sort()).toEqual(
      functionsOf(recordingClient().client)
        .filter((name) => name !== 'request')
        .sort(),
    );
  });
});
