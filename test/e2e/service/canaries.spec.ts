import { randomBytes } from 'node:crypto';
import { type CallOptions, dataOf, errorOf, exchange, type RawAnswer } from '../../support/api';
import { type Canary, type Haystack, leaksIn } from '../stage/canaries';
import { dumpDatabase, dumpRedis } from '../stage/dumps';
import { insertBacklog } from '../../support/backlog';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { type Service, type Settings, startService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES, UNKNOWN_ID } from '../stage/examples';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

/** Characters that every encoding treats in its own way. */
const canaryText = (name: string) => `canary-${name}-"é\\/<${randomBytes(9).toString('base64url')}`;
const queryText = (name: string) => `canary-${name}-${randomBytes(9).toString('base64url')}`;

// What the contract shows: a url to its owner, and in the rows that hold it.
const URL_PLACES = [
  'answers of create',
  'webhook_service.webhooks.url',
  'webhook_service.deliveries.url',
  'answers of webhooks and deliveries to their owner',
];
// Lines of the log, metrics and queues never have it.
const SUBJECT_PLACES = [
  ...['answers of events', 'answers of webhooks and deliveries to their owner'],
  ...['events.subject', 'events.body', 'deliveries.subject', 'deliveries.request_headers'].map(
    (column) => `webhook_service.${column}`,
  ),
];
// A secret is returned once, by create and by rotate; a token by the call that makes it.
const SECRET_PLACES = ['answers of create'];

const jwtOf = (part: string) =>
  ['{"alg":"RS256"}', `{"sub":"${part}"}`, part].map((text) => Buffer.from(text).toString('base64url')).join('.');

describeOnStores('A secret', (store) => {
  const receiver = useReceiver();
  const answers: Haystack[] = [];
  const queued: Haystack[] = [];
  const logs: string[] = [];
  let database: TestDatabase;
  let service: Service;
  let settings: Settings;
  let canaries: Canary[];
  let haystacks: Haystack[];
  /** Ids that must be found: who looks into an empty place finds no secret either. */
  const markers: { place: RegExp; text: string }[] = [];

  const secrets = {
    given: canaryText('secret'),
    patched: canaryText('patched'),
    rotated: canaryText('rotated'),
    refused: canaryText('refused'),
    subject: canaryText('subject'),
  };
  const header = { sent: queryText('header'), refused: queryText('refused-header') };
  const query = { webhook: queryText('url'), refused: queryText('refused-url'), route: queryText('route') };
  const jwt = jwtOf(queryText('jwt'));

  beforeAll(async () => {
    database = await cloneDatabase();
    settings = {
      ...store.settings(),
      LOG_LEVEL: 'trace',
      SECRETS_KEY: randomBytes(32).toString('base64'),
      // Failed attempts wait: their reminders are in the queue while it is looked into.
      RETRY_BASE_DELAY_MS: '600000',
      RETRY_JITTER: '0',
      AUTH_FAILURES_PER_MINUTE: '0',
    };
    await start();
    const token = await service.createToken('ada', ['webhooks:read', 'webhooks:write']);
    canaries = [
      { name: 'given secret', text: secrets.given, shownAt: SECRET_PLACES },
      { name: 'patched secret', text: secrets.patched },
      { name: 'rotated secret', text: secrets.rotated, shownAt: ['answers of rotate'] },
      { name: 'refused secret', text: secrets.refused },
      { name: 'header', text: header.sent },
      { name: 'refused header', text: header.refused },
      { name: 'query of a webhook', text: query.webhook, shownAt: URL_PLACES },
      { name: 'query of a refused url', text: query.refused },
      { name: 'query of a route', text: query.route },
      { name: 'JWT', text: jwt },
      { name: 'subject', text: secrets.subject, shownAt: SUBJECT_PLACES },
      { name: 'access token', text: token },
      { name: 'SECRETS_KEY', text: settings.SECRETS_KEY! },
      { name: 'bytes of SECRETS_KEY', text: Buffer.from(settings.SECRETS_KEY!, 'base64').toString('hex') },
      { name: 'database password', text: new URL(database.url).password },
      ...(settings.REDIS_URL ? [{ name: 'Redis password', text: new URL(settings.REDIS_URL).password }] : []),
    ];
    await useEverything(token);
    haystacks = await lookEverywhere();
    // Three starts, and a job that throws only after some seconds.
  });
  afterAll(() => database.drop());

  async function start(): Promise<void> {
    service = await startService(settings, database);
    canaries?.push({ name: 'bootstrap token', text: service.token });
  }

  /** A call of which nobody expects anything but that its answer keeps quiet. */
  async function say(place: string, method: string, path: string, options: CallOptions = {}): Promise<RawAnswer> {
    const headers = { authorization: `Bearer ${service.token}`, ...options.headers };
    const answer = await exchange(service.url, method, path, { ...options, headers });
    answers.push({ place, text: JSON.stringify(answer.headers) + answer.text });
    return answer;
  }
  const refuse = (method: string, path: string, options: CallOptions = {}) =>
    say('answers of errors', method, path, options);
  const own = 'answers of webhooks and deliveries to their owner';

  async function useEverything(token: string): Promise<void> {
    canaries.push({ name: 'bootstrap token', text: service.token });
    const failing = receiver.hook({ status: 500, body: `You sent Bearer ${header.sent}.` });
    const url = `${failing.url}?token=${query.webhook}`;
    const events = ['job.started'];
    const created = await say('answers of create', 'POST', '/api/webhooks', {
      body: { url, events, secret: secrets.given, headers: { authorization: `Bearer ${header.sent}` } },
    });
    const webhook = (JSON.parse(created.text) as { data: { id: string } }).data;
    const generated = await subscribe(service.api, receiver.hook(), events);
    canaries.push({ name: 'generated secret', text: generated.secret });

    const event = await publish(service.api, 'job.started', { subject: secrets.subject });
    const [first] = await settledOrWaiting(webhook.id, event.id);
    await settledDeliveries(service.api, generated, event);
    await say(own, 'GET', `/api/webhooks/${webhook.id}/deliveries`);
    await say(own, 'GET', `/api/webhooks/${webhook.id}/deliveries/${first!.id}`);
    await say(own, 'POST', `/api/webhooks/${webhook.id}/test`);
    await say(own, 'PATCH', `/api/webhooks/${webhook.id}`, { body: { secret: secrets.patched, url } });
    await say('answers of rotate', 'POST', `/api/webhooks/${webhook.id}/rotate-secret`, {
      body: { secret: secrets.rotated },
    });
    await say(own, 'POST', `/api/webhooks/${webhook.id}/deliveries/${first!.id}/redeliver`);
    await say(own, 'POST', `/api/webhooks/${webhook.id}/recover`, { body: { since: event.createdAt } });
    await say(own, 'GET', '/api/deliveries');
    await say(own, 'GET', '/api/webhooks');
    const made = await say('answers of tokens', 'POST', '/api/tokens', {
      body: { name: 'ci', scopes: ['webhooks:read'] },
    });
    const { token: madeToken } = (JSON.parse(made.text) as { data: { token: string } }).data;
    canaries.push({ name: 'token made over the API', text: madeToken, shownAt: ['answers of tokens'] });
    await say('answers of the list of tokens', 'GET', '/api/tokens', {
      headers: { authorization: `Bearer ${madeToken}` },
    });
    await say('answers of the list of tokens', 'GET', '/api/tokens');
    await say('answers of events', 'GET', '/api/events');
    const about = `subject=${encodeURIComponent(secrets.subject)}`;
    await say('answers of events', 'GET', `/api/events?${about}`);
    await say(own, 'GET', `/api/deliveries?${about}`);
    await say('answers of me', 'GET', '/api/me', { headers: { authorization: `Bearer ${token}` } });
    await refuseEverything(webhook.id, token);
    await breakThings(webhook.id);
    await dataOf(service.api.deleteWebhook(generated.id));
    markers.push({ place: /^log$/, text: event.id }, { place: /deliveries\.event_id$/, text: event.id });
    markers.push({ place: /^webhook_service\.webhooks\.id$/, text: webhook.id });
    markers.push({ place: /^answers of create$/, text: 'canary-secret' });
    const waiting = (await settledOrWaiting(webhook.id, event.id)).find(({ status }) => status === 'pending')!;
    markers.push({ place: store.name === 'Redis' ? /^redis$/ : /^(?!webhook_service\.)\w+\./, text: waiting.id });
  }

  async function settledOrWaiting(webhookId: string, eventId: string) {
    const { data } = await waitFor(
      async () => {
        const page = await service.api.listDeliveries(webhookId, { eventId });
        return page.success && page.data.length === 2 && page;
      },
      { what: 'a failed attempt and the next one' },
    );
    return [...data].reverse();
  }

  async function refuseEverything(id: string, token: string): Promise<void> {
    const events = ['job.started'];
    const url = 'https://example.com/';
    const secret = secrets.refused;
    const bodies: unknown[] = [
      { url, events, secret: [secret] },
      { url, events, secret: { secret } },
      { url, events, secret: `${secret}\n` },
      { url, events, secret: secret.repeat(20) },
      { url, events: [], secret },
      { url, events, headers: { 'x-key': `${header.refused}\n` } },
      { url, events, headers: { cookie: header.refused, 'x-key': [header.refused] } },
      { url, events: ['nothing.known'], secret },
      { url, secret, events, unknown: secret },
      { url: `http://user:${query.refused}@example.com/`, events, secret },
      { url: `http://10.0.0.1/?token=${query.refused}`, events, secret },
      { url: `http://exa mple.com/?token=${query.refused}`, events, secret },
      { url: `http://example.com/?token=${query.refused}${'x'.repeat(3000)}`, events, secret },
      { url, events, secret, description: secret.repeat(20) },
      [secret],
      secret,
    ];
    for (const body of bodies) {
      await refuse('POST', '/api/webhooks', { body });
      await refuse('PATCH', `/api/webhooks/${id}`, { body });
      await refuse('PATCH', `/api/webhooks/${UNKNOWN_ID}`, { body });
    }
    await refuse('POST', '/api/webhooks', { rawBody: `{"secret":"${secret}` });
    await refuse('POST', '/api/webhooks', { rawBody: secret, headers: { 'content-type': 'text/plain' } });
    await refuse('POST', '/api/events', { body: { event: 'job.started', data: { jobId: [secret] } } });
    await refuse('POST', '/api/events', { body: { event: 'job.started', data: secret, userId: null } });
    for (const authorization of [`Bearer ${jwt}`, `Basic ${jwt}`, `Bearer ${jwt} ${jwt}`, jwt, `Bearer ${token}x`]) {
      await refuse('GET', '/api/webhooks', { headers: { authorization } });
    }
    await refuse('GET', '/api/me', { headers: { authorization: [`Bearer ${jwt}`, `Bearer ${service.token}`] } });
    await say(own, 'GET', '/api/webhooks', { headers: { 'x-request-id': `${jwt} ${jwt}` } });
    for (const path of [
      '/api/nothing',
      '/nothing',
      '/api/webhooks',
      `/api/webhooks/${UNKNOWN_ID}`,
      '/api/%ZZ',
      '/docs/x',
    ]) {
      await refuse('GET', `${path}?access_token=${query.route}&cursor=${query.route}`);
    }
    await refuse('DELETE', `/api/webhooks/${UNKNOWN_ID}?token=${query.route}`);
    await errorOf(service.api.withToken(token).deleteWebhook(UNKNOWN_ID), 404);
  }

  /** Errors of the database with rows in their details, jobs that throw, and a process that is killed. */
  async function breakThings(id: string): Promise<void> {
    const rename = (from: string, to: string) => database.query(`alter table webhook_service.${from} rename to ${to}`);
    const headers = { authorization: header.refused };
    const url = `http://127.0.0.1/?token=${query.refused}`;
    const body = { url, events: ['job.started'], secret: secrets.refused, headers };
    await database.query(`alter table webhook_service.webhooks add constraint broken check (description <> 'broken')`);
    for (const [method, path] of [
      ['POST', '/api/webhooks'],
      ['PATCH', `/api/webhooks/${id}`],
    ] as const) {
      const force = method === 'PATCH' ? true : undefined;
      const answer = await refuse(method, path, { body: { ...body, force, description: 'broken' } });
      expect(answer.status).toBe(500);
    }
    await database.query('alter table webhook_service.webhooks drop constraint broken');
    await rename('webhooks', 'hidden');
    expect((await refuse('POST', '/api/webhooks', { body })).status).toBe(500);
    await dataOf(service.api.publish({ event: 'job.started', data: EXAMPLES['job.started'] }), 202);
    // The sweeper enqueues it, and its claim fails. The failed job keeps its error in the queue.
    await insertBacklog(database, {
      webhookId: id,
      userId: 'admin',
      rows: 1,
      url: 'http://127.0.0.1:9/',
      isDeferred: false,
    });
    await database.query(`update webhook_service.deliveries set leased_until = now() where leased_until = 'infinity'`);
    const thrown = async () => {
      const jobs = await lookIntoQueue();
      return jobs.some(({ text }) => text.includes('does not exist')) && jobs;
    };
    queued.push(...(await waitFor(thrown, { what: 'a job that throws', everyMs: 5 })));
    await rename('hidden', 'webhooks');
    logs.push(service.logs());
    await service.kill();
    await start();
  }

  async function lookIntoQueue(): Promise<Haystack[]> {
    if (settings.REDIS_URL) return dumpRedis(settings.REDIS_URL);
    return (await dumpDatabase(database)).filter(({ place }) => !place.startsWith('webhook_service.'));
  }

  async function lookEverywhere(): Promise<Haystack[]> {
    const stored = [...(await dumpDatabase(database)), ...(await lookIntoQueue())];
    for (const path of ['/docs/openapi.json', '/docs', '/health/ready']) await say('documents', 'GET', path);
    expect(await service.stop()).toBe(0);
    logs.push(service.logs());
    return [...stored, ...queued, ...answers, ...logs.map((text) => ({ place: 'log', text }))];
  }

  it('appears in no log, response, table, job or document, except where the contract shows it', () => {
    expect(leaksIn(haystacks, canaries)).toEqual([]);
  });

  it('would have been found: the search covers every place', () => {
    const filled = ({ place, text }: (typeof markers)[number]) =>
      haystacks.some((haystack) => place.test(haystack.place) && haystack.text.includes(text));
    expect(markers.filter((marker) => !filled(marker))).toEqual([]);
    expect(logs.join('')).toContain('"level":20');
    const shown = canaries.filter(({ shownAt }) => shownAt);
    for (const { name, text, shownAt } of shown) {
      // Taken out of its exceptions it would have been found in each of them.
      const places = new Set(leaksIn(haystacks, [{ name, text }]).map((leak) => leak.split(':')[0]));
      expect({ name, places: [...places].sort() }).toEqual({ name, places: [...shownAt!].sort() });
    }
  });
});

describe('The search for secrets', () => {
  const text = 'canary-"é\\/<secret';
  const bytes = Buffer.from(`some text before it ${text} and after it`);
  it.each([
    ['plain', bytes.toString()],
    ['escaped', JSON.stringify({ secret: text })],
    ['escaped twice', JSON.stringify(JSON.stringify({ secret: text }))],
    ['percent-encoded', `?secret=${encodeURIComponent(text)}`],
    ['base64', bytes.toString('base64')],
    ['base64', bytes.subarray(1).toString('base64')],
    ['base64url', bytes.subarray(2).toString('base64url')],
    ['hex', `\\x${bytes.toString('hex')}`],
  ])('finds one that is %s', (form, haystack) => {
    const leaks = leaksIn([{ place: 'here', text: haystack }], [{ name: 'it', text }]);
    expect(leaks).toContain(`here: it (${form})`);
    expect(leaksIn([{ place: 'here', text: haystack }], [{ name: 'it', text, shownAt: ['here'] }])).toEqual([]);
    expect(leaksIn([{ place: 'here', text: haystack }], [{ name: 'it', text: 'another secret' }])).toEqual([]);
  });
});
