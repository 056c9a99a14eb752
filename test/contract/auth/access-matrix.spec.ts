import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, dataOf, exchange } from '../../support/api';
import { useReceiver } from '../../support/receiver';
import { useService } from '../../support/service';
import { UNKNOWN_ID } from '../../e2e/stage/examples';
import { publish, settledDeliveries, subscribe } from '../../e2e/stage/steps';

const { paths } = JSON.parse(readFileSync(join(__dirname, '../../../openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, object>>;
};
const PATHS = Object.keys(paths).filter((path) => path.startsWith('/api/'));
const ROUTES = PATHS.flatMap((path) =>
  Object.keys(paths[path]!).map((method) => [method.toUpperCase(), path] as const),
);
/** Routes of no user: a scope decides who may change them. */
const UNOWNED = ['/api/event-types/{name}', '/api/users/{userId}', '/api/erasures/{id}'];
/** Creates what it does not find. */
const SAVE_WEBHOOK = 'PUT /api/webhooks/external/{externalId}';
const WITH_ID = PATHS.filter((path) => path.includes('{'));
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
/** Any live token will do for these. They answer this to one that is not a session. */
const FOR_EVERYBODY: Record<string, number> = {
  ...{ 'GET /api/me': 200, 'GET /api/about': 200, 'GET /api/event-types': 200 },
  // Nobody has declared this type.
  ...{ 'GET /api/event-types/{name}': 404 },
  ...{ 'POST /api/console-sessions': 201, 'DELETE /api/console-sessions': 409 },
};
/** Bodies that pass validation, of routes that need one before they look at the id. */
const BODIES: Record<string, object> = {
  'PATCH /api/webhooks/{id}': { description: 'mine now' },
  'POST /api/webhooks/{id}/recover': { since: '2026-01-15T09:30:00Z' },
  'POST /api/webhooks/{id}/messages/ack': { succeeded: ['a'] },
  'PUT /api/accounts/{id}/followers': { followers: [] },
  'PATCH /api/try-receivers/{id}': { answer: 200 },
};

const ALL_SCOPES = [
  ...['webhooks:read', 'webhooks:write', 'deliveries:read', 'events:publish', 'events:broadcast'],
  ...['messages:pull', 'accounts:manage', 'tokens:manage'],
];

/** A uuid of the same time as this one that nothing has. */
const neighbour = (id: string) => id.slice(0, -6) + (id.endsWith('ffffff') ? '000000' : 'ffffff');

describe('Of another user', () => {
  const service = useService({ AUTH_FAILURES_PER_MINUTE: '0' });
  const receiver = useReceiver();
  let bob: Api;
  let bobToken: string;
  /** Ids of alice, by the path up to the parameter and the parameter. */
  const foreign: Record<string, string> = {};
  const own: Record<string, string> = {};

  beforeAll(async () => {
    const tokenOf = (user: string) => service.createToken(user, ALL_SCOPES);
    for (const [user, ids] of [
      ['alice', foreign],
      ['bob', own],
    ] as const) {
      const token = await tokenOf(user);
      const api = service.api.withToken(token);
      const webhook = await subscribe(api, receiver.hook(), ['job.started'], { externalId: `hook-of-${user}` });
      const event = await publish(api, 'job.started');
      const [delivery] = await settledDeliveries(api, webhook, event);
      const made = await dataOf(api.createToken({ name: 'x', scopes: ['webhooks:read'] }), 201);
      const recovery = await dataOf(api.recover(webhook.id, { since: event.createdAt }), 202);
      const account = await dataOf(api.createAccount({ provider: 'push', handle: user }), 201);
      ids['/api/webhooks/{id}'] = webhook.id;
      ids['/api/webhooks/external/{externalId}'] = webhook.externalId!;
      ids['/api/webhooks/{id}/recoveries/{recoveryId}'] = recovery.id;
      ids['/api/accounts/{id}'] = account.id;
      ids['/api/webhooks/{id}/deliveries/{deliveryId}'] = delivery!.id;
      ids['/api/deliveries/{deliveryId}'] = delivery!.id;
      ids['/api/events/{id}'] = event.id;
      ids['/api/tokens/{id}'] = made.id;
      ids['/api/event-types/{name}'] = 'shop.opened';
      ids['/api/users/{userId}'] = user;
      ids['/api/erasures/{id}'] = UNKNOWN_ID;
      // Nobody has one here: where they are, `local.spec.ts` asks for those of others.
      ids['/api/try-receivers/{id}'] = (user === 'bob' ? 'b' : 'a').repeat(32);
      if (user === 'bob') [bob, bobToken] = [api, token];
    }
  });

  /** The path with the given id for each parameter; whoever adds a route tells here whose id it takes. */
  function fill(path: string, idOf: (key: string, isLast: boolean) => string): string {
    const names = [...path.matchAll(/\{\w+\}/g)];
    return names.reduceRight((filled, match, i) => {
      const key = path.slice(0, match.index + match[0].length);
      if (!(key in foreign)) throw new Error(`Give alice something for ${key} in this test.`);
      return (
        filled.slice(0, match.index) + idOf(key, i === names.length - 1) + filled.slice(match.index + match[0].length)
      );
    }, path);
  }

  async function answerOf(method: string, path: string, template: string) {
    const body = BODIES[`${method} ${template}`];
    const headers = { authorization: `Bearer ${bobToken}` };
    const answer = await exchange(service.url, method, path, { headers, body });
    // A message about the route itself names the path.
    return {
      status: answer.status,
      text: answer.text.replaceAll(path, 'the path').replace(/(?<="requestId":")[^"]+/, 'the id'),
      type: answer.headers['content-type'],
    };
  }

  const cases = WITH_ID.flatMap((path) => METHODS.map((method) => [method, path] as const));
  const has = (path: string, method: string) => (method === 'HEAD' ? 'GET' : method).toLowerCase() in paths[path]!;
  it.each(cases.filter(([method, path]) => !has(path, method)))(
    '%s %s returns 405 for every id',
    async (method, path) => {
      for (const id of [own, foreign]) {
        const answer = await answerOf(
          method,
          fill(path, (key) => id[key]!),
          path,
        );
        expect(answer.status).toBe(405);
      }
    },
  );

  const finds = (method: string, path: string) =>
    has(path, method) && !UNOWNED.includes(path) && `${method} ${path}` !== SAVE_WEBHOOK;
  it.each(cases.filter(([method, path]) => finds(method, path)))(
    '%s %s returns the same 404 for an id of another user as for an unknown id',
    async (method, path) => {
      const reference = await answerOf(
        method,
        fill(path, (key) => neighbour(foreign[key]!)),
        path,
      );
      expect(reference.status).toBe(404);
      const candidates = [
        fill(path, (key) => foreign[key]!),
        fill(path, () => UNKNOWN_ID),
        // Only the last id is foreign, or only the last is one's own.
        ...(path.split('{').length > 2
          ? [
              fill(path, (key, isLast) => (isLast ? foreign : own)[key]!),
              fill(path, (key, isLast) => (isLast ? own : foreign)[key]!),
            ]
          : []),
      ];
      for (const candidate of candidates) {
        const answer = await answerOf(method, candidate, path);
        // Under one's own webhook another message is right, but the same one for every id.
        const expected = candidate.includes(own['/api/webhooks/{id}']!)
          ? await answerOf(
              method,
              fill(path, (key, isLast) => (isLast ? UNKNOWN_ID : own[key]!)),
              path,
            )
          : reference;
        expect({ candidate, ...answer }).toEqual({ candidate, ...expected, status: 404 });
      }
    },
  );

  it('everything is still as it was', async () => {
    const counts = await service.database.query(
      `select (select count(*)::int from webhook_service.webhooks where user_id = 'alice' and description is null) as webhooks,
              (select count(*)::int from webhook_service.access_tokens where user_id = 'alice') as tokens,
              (select count(*)::int from webhook_service.deliveries where user_id = 'alice') as deliveries`,
    );
    expect(counts).toEqual([{ webhooks: 1, tokens: 2, deliveries: 1 }]);
  });

  it.each(ROUTES)('%s %s returns 401 without a token and 403 without a scope, for any owner', async (method, path) => {
    const nothing = service.api.withToken(await noScopeToken());
    for (const ids of [foreign, own]) {
      const filled = fill(path, (key) => ids[key]!);
      expect((await service.api.withToken(null).call(method, filled)).status).toBe(401);
      const { status } = await nothing.call(method, filled);
      expect({ path, status }).toEqual({ path, status: FOR_EVERYBODY[`${method} ${path}`] ?? 403 });
    }
  });

  let harmless: string | undefined;
  const noScopeToken = async () => (harmless ??= await service.createToken('bob', ['events:broadcast']));

  it.each(ROUTES.filter(([method]) => method === 'GET'))(
    'no other way to write %s %s opens it',
    async (method, path) => {
      const filled = fill(path, (key) => foreign[key]!);
      const rest = filled.slice('/api/'.length);
      const spellings = [
        ...[`//api/${rest}`, `/api//${rest}`, `${filled}/`, `${filled}//`, `/./api/${rest}`, `/api/./${rest}`],
        ...[`/api/../api/${rest}`, `/docs/../api/${rest}`, `/docs/%2e%2e/api/${rest}`, `/health/..%2fapi/${rest}`],
        ...[`${filled};a=b`, `/api;a=b/${rest}`, `${filled}%00`, `${filled}%20`, `${filled}?access_token=${bobToken}`],
        ...[
          `/API/${rest}`,
          `/Api/${rest}`,
          filled.toUpperCase(),
          `/%61pi/${rest}`,
          `/api%2f${rest}`,
          `/api/%2f${rest}`,
        ],
        ...[`/api\\${rest}`, `/api/${rest.replaceAll('/', '%2F')}`, `http://x${filled}`, `/docs/api/${rest}`],
      ];
      for (const spelling of spellings) {
        for (const verb of [method, 'HEAD']) {
          const anonymous = await exchange(service.url, verb, spelling);
          expect({ spelling, refused: anonymous.status >= 400 }).toEqual({ spelling, refused: true });
          if (!path.includes('{')) continue;
          const headers = { authorization: `Bearer ${bobToken}` };
          const { status } = await exchange(service.url, verb, spelling, { headers });
          expect({ spelling, refused: status >= 400 && status < 500 }).toEqual({ spelling, refused: true });
        }
      }
    },
  );

  it('HEAD returns what GET returns, without the body', async () => {
    for (const path of ['/api/me', '/api/webhooks', `/api/webhooks/${own['/api/webhooks/{id}']}`]) {
      const headers = { authorization: `Bearer ${bobToken}` };
      expect(await exchange(service.url, 'HEAD', path, { headers })).toMatchObject({ status: 200, text: '' });
    }
  });

  it('Bearer may be written in any case, and nothing else may', async () => {
    const status = async (authorization: string) =>
      (await exchange(service.url, 'GET', '/api/me', { headers: { authorization } })).status;
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR'])
      expect(await status(`${scheme} ${bobToken}`)).toBe(200);
    const others = ['Bearer:', 'Bearer=', 'Bear', 'Bearers', 'Token', 'JWT', 'Basic', 'xBearer', '"Bearer"'];
    for (const scheme of others)
      expect({ scheme, status: await status(`${scheme} ${bobToken}`) }).toEqual({ scheme, status: 401 });
    for (const text of [`Bearer\t${bobToken}`, `Bearer  ${bobToken}`, `Bearer ${bobToken} x`, `Bearer "${bobToken}"`]) {
      expect({ text, status: await status(text) }).toEqual({ text, status: 401 });
    }
  });

  it.each([
    ['GET', '/api/webhooks/{id}'],
    ['GET', '/api/events/{id}'],
    ['DELETE', '/api/tokens/{id}'],
  ])(
    'an id takes %s %s no longer and no shorter than one that nothing has',
    async (method, path) => {
      const id = foreign[path]!;
      const [one, other] = [path.replace('{id}', id), path.replace('{id}', neighbour(id))];
      const ratios: number[] = [];
      // The machine has moods: the best of a few rounds counts.
      for (let round = 0; round < 10 && !ratios.some((ratio) => ratio < 1.2); round++) {
        const times: [number[], number[]] = [[], []];
        for (let i = 0; i < 300; i++) {
          // Who comes first changes, so that neither profits from it.
          for (const which of i % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
            const startedAt = performance.now();
            const reply = await bob.call(method, which === 0 ? one : other);
            times[which].push(performance.now() - startedAt);
            if (reply.status !== 404) throw new Error(`Expected 404, got ${reply.status}`);
          }
        }
        const [a, b] = [undisturbed(times[0]), undisturbed(times[1])];
        ratios.push(Math.max(a, b) / Math.min(a, b));
      }
      expect(Math.min(...ratios)).toBeLessThan(1.2);
    },
    600_000,
  );
});

/** Of a tenth of the calls nobody was quicker: whatever else the machine did, it only made the others slower. */
const undisturbed = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 10)]!;
