import { randomInt } from 'node:crypto';
import { Agent, request } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { dataOf, type Delivery, exchange, type Webhook } from '../../support/api';
import { ERROR_STATUSES } from '../../support/error-codes';
import { SeededRandom } from '../../support/seeded-random';
import { type GeneratedRequest, type OpenApi, OpenApiRequests, type Operation } from '../stage/openapi-requests';
import { useHostileDns } from '../../support/hostile-dns';
import { freePort, useServiceProcess } from '../../support/service';
import { EVENT_NAMES } from '../../e2e/stage/examples';

/** Schemathesis makes as many of its own. */
const REQUESTS = process.env.LONG === '1' ? 10_000 : 2500;
/** As many more as it takes until every operation has succeeded: some need what others have rarely left behind. */
const MOST_REQUESTS = 12 * REQUESTS;
/** What leaves behind that which others need: room for a webhook, the webhook, and a delivery of it that has failed. */
const LEAVE_BEHIND = ['DELETE /api/webhooks/{id}', 'POST /api/webhooks', 'POST /api/events', 'GET /api/deliveries'];
const AT_ONCE = 12;
const EVENT_TYPES = Array.from({ length: 50 }, (_, i) => `sold.kind_${i}`);
/** To repeat a failed run set SEED to the seed that it printed. */
const seed = Number(process.env.SEED ?? randomInt(2 ** 31));

/** The errors that an operation documents as `default`. */
const OTHERS: unknown[] = ['malformed_request', 'request_timeout', 'expectation_unknown', 'headers_too_large'];

interface Answer {
  status: number;
  contentType: string;
  requestId: string;
  text: string;
}

// Some 20 s on a machine that has nothing else to do, and three times as long with the most requests.
jest.setTimeout(600_000);

describe(`${REQUESTS} requests out of openapi.json (SEED=${seed})`, () => {
  const startDns = useHostileDns();
  let names: string;
  beforeAll(async () => {
    // Nothing leaves this machine: no name exists.
    names = (await startDns(() => 'NXDOMAIN')).server;
  });
  const service = useServiceProcess(() => ({
    MAX_RETRIES: '0',
    MAX_WEBHOOKS_PER_USER: '4',
    DELIVERY_TIMEOUT_MS: '500',
    DELIVERY_CONCURRENCY: '20',
    DNS_SERVERS: names,
    AUTH_FAILURES_PER_MINUTE: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'warn',
  }));
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  afterAll(() => agent.destroy());

  it('all get a response that the document describes, and never 500 or more', async () => {
    const document = JSON.parse((await exchange(service.url, 'GET', '/docs/openapi.json')).text) as OpenApi;
    const operations = operationsOf(document);
    const ids = await someIds();
    const places = new Places();
    const url = [`http://127.0.0.1:${await freePort()}/`, 'http://localhost:1/x', 'http://name.invalid/'];
    const limited = await service.createToken('ada', ['webhooks:read', 'deliveries:read']);
    const requests = new OpenApiRequests(document, new SeededRandom(seed), {
      ids,
      places: places.of,
      tokens: [service.token, service.token, service.token, limited],
      fields: {
        url,
        events: [['*'], ['follower.*', 'job.started'], [...EVENT_NAMES]],
        event: EVENT_NAMES,
        userId: ['ada', 'grace', null],
        cursor: [''],
        // What goes together, and does not wait for long.
        limit: [1, 50, 250],
        changedAfter: ['now'],
        waitSeconds: [0, 1],
        provider: ['push', 'push', 'mastodon', 'bluesky'],
        handle: ['ada', 'ada@name.invalid', 'ada.name.invalid'],
        ...{
          name: EVENT_TYPES,
          '{name}': EVENT_TYPES,
          schema: [{ type: 'object' }],
          example: [{}],
          application: ['shop'],
        },
        format: ['native', 'payload', 'standard', 'slack', null],
        fields: [null, [], ['a', 'b.c']],
        filter: [null, { 'data.a': 1 }],
        externalId: ['mine', 'billing:2', null],
        timeoutMs: [500, null],
        retryDelaysMs: [[], null],
        maxPerSecond: [0.1, null],
        '{externalId}': ['mine', 'billing:2'],
        '{userId}': ['nobody'],
        confirm: ['nobody', 'ada'],
        scopes: [['webhooks:read'], ['tokens:manage', 'deliveries:read']],
        expiresAt: [null, '2199-01-01T00:00:00Z'],
      },
    });
    const check = checkOf(document);
    // One of each kind is enough to mend it.
    const problems = new Map<string, string>();
    const seen = new Map<string, number>();
    // None of the tokens is a session, and these receivers are elsewhere.
    const cannot = ({ name }: { name: string }) => /DELETE .*console-sessions|try-receivers/.test(name);
    const neverSucceeded = () =>
      operations.filter(
        ({ name, successes }) => !cannot({ name }) && !successes.some((status) => seen.has(`${name} ${status}`)),
      );
    let sent = 0;
    const isDone = () => sent >= REQUESTS && (sent >= MOST_REQUESTS || neverSucceeded().length === 0);
    const work = async () => {
      while (!isDone() && problems.size < 20) {
        sent += 1;
        const wanted = sent > REQUESTS ? [...neverSucceeded().map(({ name }) => name), ...LEAVE_BEHIND] : [];
        const generated = requests.next(wanted);
        const answer = await send(generated);
        const problem = check(generated, answer);
        if (problem)
          problems.set(
            `${generated.method} ${generated.route} ${answer.status}: ${problem}`,
            describeRequest(generated),
          );
        remember(generated, answer, ids, seen);
        places.remember(generated, answer);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    expect(Object.fromEntries(problems)).toEqual({});
    // The generator is worth its name: every operation has succeeded, and every refusal that can be had was had.
    expect(neverSucceeded()).toEqual([]);
    const statuses = new Set([...seen.keys()].map((key) => Number(key.split(' ').at(-1))));
    expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 202, 400, 401, 403, 404, 409, 413, 415]));
    expect(await exchange(service.url, 'GET', '/health/live')).toMatchObject({ status: 200 });
    expect(service.logs().match(/^.*"level":[56]0.*$/gm) ?? []).toEqual([]);
  });

  /** A webhook with an event and a delivery of its own. */
  async function someIds(): Promise<string[]> {
    const webhook = await dataOf(service.api.createWebhook({ url: 'http://127.0.0.1:1/', events: ['*'] }), 201);
    const delivery = await dataOf(service.api.testWebhook(webhook.id));
    return [webhook.id, delivery.id, delivery.eventId];
  }

  function send({ method, path, headers, body }: GeneratedRequest): Promise<Answer> {
    const { hostname, port } = new URL(service.url);
    return new Promise((resolve, reject) => {
      const outgoing = request({ hostname, port, method, path, headers, agent }, (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            contentType: String(incoming.headers['content-type']),
            requestId: String(incoming.headers['x-request-id'] ?? ''),
            text,
          }),
        );
      });
      outgoing.on('error', (error) => reject(new Error(`${method} ${path}`, { cause: error })));
      outgoing.end(body);
    });
  }
});

/** Says what is wrong about an answer, or nothing. */
function checkOf(document: OpenApi): (generated: GeneratedRequest, answer: Answer) => string | undefined {
  const ajv = new Ajv2020({ strict: false });
  addFormats(ajv);
  ajv.addSchema(document, 'openapi');
  const error = ajv.compile({
    type: 'object',
    required: ['success', 'error', 'code', 'requestId'],
    additionalProperties: false,
    properties: {
      success: { const: false },
      error: { type: 'string', minLength: 1 },
      code: { enum: Object.keys(ERROR_STATUSES) },
      requestId: { type: 'string', minLength: 1 },
      details: { type: 'array', minItems: 1, maxItems: 20 },
    },
  });
  return ({ route, method, path }, { status, contentType, requestId, text }) => {
    if (status >= 500) return 'a problem of the service';
    if (requestId === '') return 'no x-request-id';
    if (method === 'HEAD') return undefined;
    if (!contentType.startsWith('application/json')) return `not JSON but ${contentType}`;
    const body: unknown = JSON.parse(text);
    if (status >= 400 && !error(body)) return 'not the envelope of an error';
    const operation: Operation | undefined = document.paths[route]?.[method.toLowerCase()];
    // A path that was made longer leads to another route, or to none; one that does not decode leads nowhere.
    const isOther = path.split('?')[0]!.split('/').length !== route.split('/').length || !isDecodable(path);
    if (!operation || isOther) return status < 400 && !isOther ? 'an undocumented method' : undefined;
    const { code } = body as { code?: string };
    if (code === 'route_not_found') return undefined;
    const key = status in operation.responses ? String(status) : 'default';
    if (key === 'default' && !OTHERS.includes(code)) {
      return `a status that is not among ${Object.keys(operation.responses).join()}`;
    }
    const place = ['paths', route, method.toLowerCase(), 'responses', key];
    const own = `#/${place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
    const pointer = `${operation.responses[key]?.$ref ?? own}/content/application~1json/schema`;
    const validate = ajv.compile({ $ref: `openapi${encodeURI(pointer)}` });
    return validate(body) ? undefined : ajv.errorsText(validate.errors);
  };
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

function operationsOf({ paths }: OpenApi): { name: string; successes: string[] }[] {
  return Object.entries(paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => ({
      name: `${method.toUpperCase()} ${route}`,
      successes: Object.keys(responses).filter((status) => status.startsWith('2')),
    })),
  );
}

/** Counts the answer, and keeps the ids of what it made for the requests to come. */
function remember(
  { method, route }: GeneratedRequest,
  { status, text }: Answer,
  ids: string[],
  seen: Map<string, number>,
) {
  const key = `${method} ${route} ${status}`;
  seen.set(key, (seen.get(key) ?? 0) + 1);
  if (status < 200 || status > 202 || method === 'DELETE' || method === 'HEAD') return;
  const found = [...text.matchAll(/"(?:id|eventId)":"([0-9a-f-]{36})"/g)].map(([, id]) => id!);
  for (const id of found.slice(0, 2)) ids[ids.length < 40 ? ids.length : (seen.get(key)! * 7) % 40] = id;
}

/** What has been made so far, by the routes that it can be asked of. */
class Places {
  /** Of both kinds: those of one kind would use up the limit. */
  private readonly made: Record<string, string>[] = [];
  private readonly webhooks: Record<string, string>[] = [];
  private readonly pulled: Record<string, string>[] = [];
  private readonly tested: Record<string, string>[] = [];
  private readonly failed: Record<string, string>[] = [];
  private readonly recoveries: Record<string, string>[] = [];
  private readonly accounts: Record<string, string>[] = [];
  private readonly tokens: Record<string, string>[] = [];

  private readonly published: Record<string, string>[] = [];

  readonly of = {
    '/api/webhooks/{id}': this.made,
    '/api/webhooks/{id}/test': this.webhooks,
    '/api/webhooks/{id}/rotate-secret': this.webhooks,
    '/api/webhooks/{id}/deliveries': this.webhooks,
    '/api/webhooks/{id}/stats': this.webhooks,
    '/api/webhooks/{id}/recoveries': this.webhooks,
    '/api/webhooks/{id}/deliveries/{deliveryId}': this.tested,
    '/api/deliveries/{deliveryId}': this.tested,
    '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver': this.failed,
    '/api/webhooks/{id}/recover': this.webhooks,
    '/api/webhooks/{id}/recoveries/{recoveryId}': this.recoveries,
    '/api/webhooks/{id}/messages/lease': this.pulled,
    '/api/webhooks/{id}/messages/ack': this.pulled,
    '/api/accounts/{id}': this.accounts,
    '/api/accounts/{id}/followers': this.accounts,
    '/api/tokens/{id}': this.tokens,
    '/api/events/{id}': this.published,
  };

  remember({ method, route, path }: GeneratedRequest, { status, text }: Answer): void {
    if (status < 200 || status > 202 || method === 'HEAD') return;
    const { data } = JSON.parse(text) as { data: unknown };
    switch (`${method} ${route}`) {
      case 'POST /api/webhooks': {
        const { id, kind } = data as Webhook;
        this.made.push({ id });
        return void (kind === 'pull' ? this.pulled : this.webhooks).push({ id });
      }
      case 'DELETE /api/webhooks/{id}':
        return this.forgetWebhook(idIn(path));
      case 'POST /api/webhooks/{id}/test': {
        const { webhookId, id } = data as Delivery;
        return void this.tested.push({ id: webhookId, deliveryId: id });
      }
      case 'GET /api/deliveries': {
        // Newest first, and those of deleted webhooks are there too.
        const failed = (data as Delivery[])
          .filter((row) => row.status === 'failed' && row.trigger === 'event')
          .filter((row) => this.webhooks.some(({ id }) => id === row.webhookId));
        return void this.failed.push(
          ...failed.reverse().map(({ webhookId, id }) => ({ id: webhookId, deliveryId: id })),
        );
      }
      case 'POST /api/webhooks/{id}/recover': {
        const { id: recoveryId } = data as { id?: string };
        if (recoveryId) this.recoveries.push({ id: idIn(path), recoveryId });
        return;
      }
      case 'POST /api/events':
        return void this.published.push({ id: (data as { id: string }).id });
      case 'POST /api/accounts': {
        const { provider, id } = data as { provider: string; id: string };
        if (provider === 'push') this.accounts.push({ id });
        return;
      }
      case 'POST /api/tokens':
        return void this.tokens.push({ id: (data as { id: string }).id });
    }
  }

  private forgetWebhook(webhookId: string): void {
    for (const list of [this.made, this.webhooks, this.pulled, this.tested, this.failed, this.recoveries]) {
      list.splice(0, Infinity, ...list.filter(({ id }) => id !== webhookId));
    }
  }
}

const idIn = (path: string): string => path.split(/[/?]/)[3]!;

function describeRequest({ method, path, headers, body }: GeneratedRequest): string {
  return `${method} ${path} ${JSON.stringify(headers).slice(0, 200)} ${(body ?? '').toString().slice(0, 300)}`;
}
