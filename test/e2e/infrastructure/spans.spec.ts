import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, dataOf, errorOf, exchange, type PublishedEvent } from '../../support/api';
import { describeOnline } from '../../support/online';
import { type Hook, useReceiver } from '../../support/receiver';
import { describeOnStores, type Store } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { type Canary, leaksIn } from '../stage/canaries';
import { EXAMPLES } from '../stage/examples';
import { useFleet } from '../stage/fleet';
import { type ExportedSpan, useOtlpSink } from '../stage/otlp-sink';
import { deleteWebhooks, deliveriesOf, settledDeliveries, subscribe } from '../stage/steps';

const PARENT = 'b7ad6b7169203331';
const KIND = { client: 3, producer: 4, consumer: 5 };
const ERROR = 2;
const ROOT = join(__dirname, '../../..');

/** What a span of the service may say. */
const IDS = ['webhooks.event.id', 'webhooks.webhook.id', 'webhooks.delivery.id'];
const REQUEST = ['http.request.method', 'http.response.status_code', 'server.address', 'server.port', 'error.type'];

const newTrace = () => randomBytes(16).toString('hex');

/** Tests of an API and a worker that load an SDK by these `NODE_OPTIONS`. */
function testsOfSpans(store: Store, nodeOptions: () => string): void {
  const sink = useOtlpSink();
  const receiver = useReceiver();
  const fleet = useFleet({ apis: 1, workers: 1 }, () => ({
    ...store.settings(),
    ...sink.settings(),
    NODE_OPTIONS: nodeOptions(),
    MAX_RETRIES: '1',
    // An hour, which is over when a test says so.
    RETRY_BASE_DELAY_MS: '3600000',
  }));
  afterEach(() => deleteWebhooks(api()));
  const api = (): Api => fleet().through(fleet().apis[0]!);
  const publish = (headers: Record<string, string>, more: object = {}): Promise<PublishedEvent> =>
    dataOf(api().publish({ event: 'job.started', data: EXAMPLES['job.started'], ...more }, headers), 202);

  const sentTo = async (hook: Hook, count: number) =>
    (await hook.received(count)).map(({ headers }) => String(headers.traceparent));
  /** Ids of the span and of those above it, nearest first; the last one is not ours. */
  const lineOf = async ({ spanId, parentSpanId }: ExportedSpan): Promise<string[]> => {
    if (!parentSpanId || parentSpanId === PARENT) return [spanId, parentSpanId ?? 'none'];
    return [spanId, ...(await lineOf(await sink.span(parentSpanId)))];
  };

  it('lead from the caller over publish to fan-out and to each attempt, in other processes too', async () => {
    const traceId = newTrace();
    const hook = receiver.hook({ status: 503 }, { status: 200 });
    const webhook = await subscribe(api(), hook, ['job.started']);
    const event = await publish({ traceparent: `00-${traceId}-${PARENT}-01` });
    const [published] = (await sink.spansOf('publish', event, 1)) as [ExportedSpan];
    const [fanOut] = (await sink.spansOf('fan-out', event, 1)) as [ExportedSpan];
    await sink.spansOf('deliver', event, 1);
    const retryOf = async () => (await deliveriesOf(api(), webhook, event))[1];
    const retry = await waitFor(retryOf, { what: 'the retry' });
    // The retry finds its parent in the row.
    await fleet().workers[0]!.process.kill();
    await fleet().complete();
    await dataOf(api().redeliver(webhook.id, retry.id));
    const [failed, repeated] = (await sink.spansOf('deliver', event, 2)) as [ExportedSpan, ExportedSpan];
    expect([published, fanOut, failed, repeated].map((span) => span.traceId)).toEqual(Array(4).fill(traceId));
    expect([fanOut, failed, repeated].map((span) => span.parentSpanId)).toEqual(Array(3).fill(published.spanId));
    expect((await lineOf(published)).at(-1)).toBe(PARENT);
    expect([published.kind, fanOut.kind, failed.kind]).toEqual([KIND.producer, KIND.consumer, KIND.client]);
    expect(fleet().apis[0]!.attempts()).toEqual([]);

    const { traceparent } = await dataOf(api().readEvent(event.id));
    expect(traceparent).toBe(`00-${traceId}-${published.spanId}-01`);
    const headers = [failed, repeated].map(({ spanId }) => `00-${traceId}-${spanId}-01`);
    expect(await sentTo(hook, 2)).toEqual(headers);
    const lines = () => fleet().workers[0]!.attempts();
    await waitFor(() => lines().length >= 2, { what: 'the lines of both attempts' });
    expect(lines()).toMatchObject([failed, repeated].map(({ spanId }) => ({ eventId: event.id, traceId, spanId })));

    const [first, second] = await settledDeliveries(api(), webhook, event);
    const ids = { 'webhooks.event.id': event.id };
    const { hostname, port } = new URL(hook.url);
    const ofAttempt = {
      ...ids,
      'webhooks.webhook.id': webhook.id,
      'http.request.method': 'POST',
      'server.address': hostname,
      'server.port': Number(port),
    };
    expect([published.attributes, fanOut.attributes]).toEqual([ids, ids]);
    expect(failed.attributes).toEqual({
      ...ofAttempt,
      'webhooks.delivery.id': first!.id,
      'http.response.status_code': 503,
      'error.type': 'http_status',
    });
    expect(repeated.attributes).toEqual({
      ...ofAttempt,
      'webhooks.delivery.id': second!.id,
      'http.response.status_code': 200,
    });
    expect([failed.status, repeated.status.code]).toEqual([{ code: ERROR }, 0]);
  });

  it('begin a trace when the caller has none, of which a receiver gets the id', async () => {
    const hook = receiver.hook();
    await subscribe(api(), hook, ['job.started']);
    const event = await publish({});
    const [published] = (await sink.spansOf('publish', event, 1)) as [ExportedSpan];
    const [delivered] = (await sink.spansOf('deliver', event, 1)) as [ExportedSpan];
    expect((await lineOf(published)).at(-1)).toBe('none');
    expect(delivered).toMatchObject({ traceId: published.traceId, parentSpanId: published.spanId });
    expect(await sentTo(hook, 1)).toEqual([`00-${published.traceId}-${delivered.spanId}-01`]);
  });

  it('are not recorded when the caller has not sampled its trace', async () => {
    const traceId = newTrace();
    const hook = receiver.hook();
    await subscribe(api(), hook, ['job.started']);
    const event = await publish({ traceparent: `00-${traceId}-${PARENT}-00` });
    expect(await sentTo(hook, 1)).toEqual([expect.stringMatching(`^00-${traceId}-[0-9a-f]{16}-00$`)]);
    await sink.spansOf('deliver', await publish({}), 1);
    expect(sink.spans.filter((span) => span.attributes['webhooks.event.id'] === event.id)).toEqual([]);
  });

  it('are one per event of a batch, and say why a publication failed', async () => {
    const traceId = newTrace();
    const headers = { traceparent: `00-${traceId}-${PARENT}-01` };
    const job = { event: 'job.started', data: EXAMPLES['job.started'] };
    const batch = (events: object[]) =>
      api().call<PublishedEvent[]>('POST', '/api/events/batch', { body: { events }, headers });
    const key = randomBytes(9).toString('hex');
    const [one, other] = await dataOf(batch([{ ...job, idempotencyKey: key }, job]), 202);
    const spans = [one!, other!].map(async (event) => (await sink.spansOf('publish', event, 1))[0]!);
    const [first, second] = (await Promise.all(spans)) as [ExportedSpan, ExportedSpan];
    expect([first.traceId, second.traceId]).toEqual([traceId, traceId]);
    expect(first.parentSpanId).toBe(second.parentSpanId);
    const { traceparent } = await dataOf(api().readEvent(other!.id));
    expect(traceparent).toBe(`00-${traceId}-${second.spanId}-01`);

    const refused = { ...job, idempotencyKey: key, userId: null };
    await errorOf(batch([refused]), 409);
    await errorOf(api().publish(refused, headers), 409);
    await errorOf(api().publish({ ...job, data: {} }, headers), 400);
    const failures = await waitFor(
      () => {
        const failed = sink.spans.filter(({ traceId: of, name, status }) => {
          return of === traceId && name === 'publish' && status.code === ERROR;
        });
        return failed.length >= 3 && failed;
      },
      { what: 'the failures' },
    );
    expect(failures.map(({ attributes }) => attributes['error.type']).sort()).toEqual([
      'idempotency_key_reused',
      'idempotency_key_reused',
      'validation_failed',
    ]);
  });

  it('and those of instrumentations contain nothing of urls, bodies or header values', async () => {
    const canaries = newCanaries();
    const marker = await useCanaries(canaries);
    await sink.spansOf('deliver', marker, 3);
    expect(canaries.all.length).toBeGreaterThan(30);
    expect(leaksIn(sink.exported, canaries.all)).toEqual([]);
    // Whoever looks into an empty place finds nothing.
    expect(leaksIn(sink.exported, [{ name: 'an id', text: marker.id }])).not.toEqual([]);
    const ours = sink.spans.filter(({ name }) => ['publish', 'fan-out', 'deliver'].includes(name));
    const said = new Set(ours.flatMap(({ attributes }) => Object.keys(attributes)));
    expect([...said].sort()).toEqual([...IDS, ...REQUEST].sort());
    // A request of ours has no other span than `deliver`.
    const others = sink.spans.filter(({ name, kind }) => kind === KIND.client && name !== 'deliver');
    expect(others.filter(({ name }) => /^(GET|POST|HTTP)/.test(name))).toEqual([]);
  });

  /** Uses each of them where a user or a receiver may put it, and returns the last event. */
  async function useCanaries({ of }: Canaries): Promise<PublishedEvent> {
    const hook = receiver.hook({
      status: 500,
      headers: { 'x-answer': of('response header'), 'set-cookie': of('cookie') },
      body: of('response body'),
    });
    const path = `?${of('name in a query')}=${of('query of the url')}`;
    const deep = `/${of('path of the url')}?${of('another query')}`;
    const webhook = {
      events: ['job.started'],
      secret: of('secret'),
      headers: { 'x-key': of('header of a webhook'), authorization: `Bearer ${of('authorization of a webhook')}` },
      description: of('description'),
      metadata: { team: of('metadata') },
    };
    const name = of('filter');
    const filter = { 'data.name': name };
    const headers = {
      'user-agent': of('user agent'),
      'x-forwarded-for': of('forwarded address'),
      'x-forwarded-host': of('forwarded host'),
      'x-request-id': of('request id'),
      cookie: of('cookie of a request'),
      referer: `https://example.com/${of('referer')}`,
      tracestate: `vendor=${of('tracestate')}`,
      baggage: `key=${of('baggage')}`,
    };
    const call = (method: string, at: string, body?: unknown, token?: string) =>
      exchange(api().url, method, at, {
        body,
        headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      });
    const token = await fleetToken();
    const external = `/api/webhooks/external/${of('external id')}`;
    const statuses = [
      await call('PUT', external, { ...webhook, url: hook.url }, token),
      await call('PUT', external, { ...webhook, url: hook.url, secret: of('new secret') }, token),
      await call('POST', '/api/webhooks', { ...webhook, filter, url: `${hook.url}${path}` }, token),
      await call('POST', '/api/webhooks', { events: ['job.started'], url: `http://127.0.0.1:1${deep}` }, token),
    ].map(({ status }) => status);
    expect(statuses).toEqual([201, 200, 201, 201]);
    await call('POST', '/api/webhooks', { ...webhook, url: `http://user:${of('userinfo')}@127.0.0.1/` }, token);
    await call('GET', `/api/webhooks?q=${of('search')}&${of('unknown parameter')}=1`, undefined, token);
    await call('GET', `/${of('unknown path')}`);
    await call('GET', `/api/%ZZ${of('malformed path')}`);
    await call('GET', '/api/me', undefined, of('bearer token'));
    const data = { ...EXAMPLES['job.started'], name, more: of('data') };
    const more = { data, idempotencyKey: of('key') };
    await call('POST', '/api/events', { event: 'job.started', ...more, userId: of('user id') }, token);
    await call('POST', '/api/events', { event: 'job.started', data: { [of('wrong data')]: of('wrong value') } }, token);
    return publish({ ...headers, 'idempotency-key': of('key in a header') }, { data });
  }

  async function fleetToken(): Promise<string> {
    const { token } = await dataOf(
      api().createToken({ name: 'a test', scopes: (await dataOf(api().me())).scopes }),
      201,
    );
    return token;
  }
}

interface Canaries {
  all: Canary[];
  /** Returns the text of this name. */
  of(name: string): string;
}

function newCanaries(): Canaries {
  const all: Canary[] = [];
  return {
    all,
    of: (name) => {
      const text = `canary-${randomBytes(9).toString('hex')}`;
      // An SDK may export the lines of the log, too.
      all.push({ name, text, shownAt: name === 'request id' ? ['/v1/logs'] : [] });
      return text;
    },
  };
}

describeOnStores('Spans of OpenTelemetry', (store) => {
  testsOfSpans(store, () => `--require ${join(ROOT, 'test/e2e/stage/telemetry.cjs')}`);
});

describeOnline('As docs/monitoring.md loads an SDK', () => {
  const OPT = '/opt/otel';
  const docs = readFileSync(join(ROOT, 'docs/monitoring.md'), 'utf8');
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'wns-otel-'));
    const [install = ''] = /^npm install .*opentelemetry.*$/m.exec(docs) ?? [];
    const [, ...args] = install.replace(OPT, folder).split(' ');
    execFileSync('npm', [...args, '--no-audit', '--no-fund'], { stdio: ['ignore', 'ignore', 'inherit'] });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  describeOnStores('spans', (store) => {
    testsOfSpans(store, () => (/^export NODE_OPTIONS='(.*)'$/m.exec(docs)?.[1] ?? '').replace(OPT, folder));
  });
});
