import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api, dataOf, type Delivery, errorOf } from '../../support/api';
import { type ConnectProxy, useConnectProxies } from '../../support/connect-proxy';
import { useFollowerServer, useFollowerTrust } from '../../support/follower-server';
import {
  AUDIENCE,
  type IdentityProvider,
  ISSUER,
  makeKey,
  sign,
  type SigningKey,
  startIdentityProvider,
} from '../../support/identity-provider';
import { useReceiver } from '../../support/receiver';
import { freePort, type Service, type Settings, startService, useService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { scrape, sumOf } from '../stage/metrics';
import { deleteWebhooks, deliveriesOf, publish, settledDeliveries, subscribe } from '../stage/steps';

const startProxy = useConnectProxies();
const targetsOf = ({ requests }: ConnectProxy) => requests.map(({ target }) => target);
const hostOf = (url: string) => new URL(url).host;

/** Runs an action with a service of its own. */
async function withService(settings: Settings, act: (service: Service) => Promise<void>): Promise<void> {
  const service = await startService(settings);
  try {
    await act(service);
  } finally {
    expect(await service.stop()).toBe(0);
  }
}

describeOnStores('Behind an egress proxy', (store) => {
  let proxy: ConnectProxy;
  let metricsPort: number;
  beforeAll(async () => {
    proxy = await startProxy();
    metricsPort = await freePort();
  });
  const receiver = useReceiver();
  const service = useService(() => ({
    ...store.settings(),
    ...{ EGRESS_PROXY: proxy.url, METRICS_PORT: String(metricsPort), DISABLE_AFTER_FAILURES: '1' },
    ...{ DISABLE_AFTER_HOURS: '0', RETRY_BASE_DELAY_MS: '3000' },
  }));
  beforeEach(() => proxy.restore());
  afterEach(async () => {
    proxy.behave(null);
    await deleteWebhooks(service.api);
  });

  const waiting = (webhook: { id: string }, event: { id: string }): Promise<Delivery> =>
    waitFor(async () => (await deliveriesOf(service.api, webhook, event)).find((row) => row.waitsFor === 'proxy'), {
      what: 'the delivery to wait for the proxy',
    });

  it('delivers and tests through tunnels', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started']);
    expect(await dataOf(service.api.testWebhook(webhook.id))).toMatchObject({ status: 'succeeded' });
    const event = await publish(service.api, 'job.started');
    expect(await settledDeliveries(service.api, webhook, event)).toMatchObject([{ status: 'succeeded', attempt: 1 }]);
    expect(new Set(targetsOf(proxy))).toEqual(new Set([hostOf(hook.url)]));
  });

  it('keeps deliveries while the proxy is down, counts no attempt, and makes them 30 s later', async () => {
    const hook = receiver.hook();
    const webhook = await subscribe(service.api, hook, ['job.started']);
    await proxy.cut();
    const publishedAt = Date.now();
    const event = await publish(service.api, 'job.started');
    const row = await waiting(webhook, event);
    expect(row).toMatchObject({
      ...{ status: 'pending', attempt: 1, error: { code: 'proxy_failed' }, responseStatus: null, durationMs: null },
      ...{ attemptedAt: null, completedAt: null, nextAttemptAt: null },
    });
    const dueAt = Date.parse(row.scheduledAt);
    expect(dueAt - publishedAt).toBeGreaterThan(29_500);
    expect(dueAt - Date.now()).toBeLessThanOrEqual(30_500);
    expect(await dataOf(service.api.readDelivery(webhook.id, row.id))).toMatchObject({
      ...{ waitsFor: 'proxy', request: null, response: null },
    });
    expect(await errorOf(service.api.redeliver(webhook.id, row.id), 'delivery_pending')).toMatch(/pending/);
    await proxy.restore();
    const [sent, ...others] = await settledDeliveries(service.api, webhook, event);
    expect(others).toEqual([]);
    expect(sent).toMatchObject({ id: row.id, status: 'succeeded', attempt: 1, waitsFor: null, error: null });
    expect(sent?.scheduledAt).toBe(row.scheduledAt);
    expect(hook.calls).toHaveLength(1);
    expect(hook.calls[0]?.receivedAt).toBeGreaterThanOrEqual(Date.parse(row.scheduledAt) - 1000);
    expect(await dataOf(service.api.readWebhook(webhook.id))).toMatchObject({
      ...{ active: true, consecutiveFailures: 0, lastFailureAt: null },
    });
    expect(sumOf(await scrape(metricsPort), 'webhooks_proxy_failures_total')).toBeGreaterThanOrEqual(1);
    expect(sumOf(await scrape(metricsPort), 'webhooks_attempts_failed_total')).toBe(0);
  });

  /** Makes waiting rows due, as 30 s do. */
  const makeDue = () =>
    service.database.query(
      `update webhook_service.deliveries set scheduled_at = now(), leased_until = now()
       where status = 'pending' and error_code = 'proxy_failed' and not claimed`,
    );

  it('counts no attempt however often the proxy fails, of retries and slow ones neither', async () => {
    const hook = receiver.hook({ status: 500 }, { status: 200 });
    const webhook = await subscribe(service.api, hook, ['job.started']);
    const event = await publish(service.api, 'job.started');
    await waitFor(async () => (await deliveriesOf(service.api, webhook, event)).length === 2, { what: 'the retry' });
    // A first attempt gets a row after a second, and these fail after two.
    await dataOf(service.api.updateWebhook(webhook.id, { timeoutMs: 2000 }));
    proxy.behave(() => undefined);
    proxy.hangUp();
    const slow = await publish(service.api, 'job.started');
    for (const one of [event, slow]) {
      await waiting(webhook, one);
      for (let round = 0; round < 2; round++) {
        await makeDue();
        await waitFor(async () => (await deliveriesOf(service.api, webhook, one)).at(-1)?.waitsFor !== 'proxy', {
          what: 'another attempt',
        });
        await waiting(webhook, one);
      }
    }
    expect((await deliveriesOf(service.api, webhook, event)).map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'failed'],
      [2, 'pending'],
    ]);
    expect(await dataOf(service.api.readWebhook(webhook.id))).toMatchObject({ active: true, consecutiveFailures: 0 });
    proxy.behave(null);
    await dataOf(service.api.updateWebhook(webhook.id, { timeoutMs: null }));
    await makeDue();
    expect(await settledDeliveries(service.api, webhook, event)).toMatchObject([
      { attempt: 1, status: 'failed', responseStatus: 500 },
      { attempt: 2, status: 'succeeded' },
    ]);
    expect(await settledDeliveries(service.api, webhook, slow)).toMatchObject([{ attempt: 1, status: 'succeeded' }]);
    expect(hook.calls).toHaveLength(3);
  });

  it('keeps the rate of a webhook, and cancels its waiting deliveries when it is disabled', async () => {
    const [paced, disabled] = [receiver.hook(), receiver.hook()];
    const one = await subscribe(service.api, paced, ['job.started'], { maxPerSecond: 5 });
    const other = await subscribe(service.api, disabled, ['job.started']);
    await proxy.cut();
    const event = await publish(service.api, 'job.started');
    await Promise.all([waiting(one, event), waiting(other, event)]);
    await dataOf(service.api.updateWebhook(other.id, { active: false }));
    await proxy.restore();
    await makeDue();
    expect(await settledDeliveries(service.api, one, event)).toMatchObject([{ attempt: 1, status: 'succeeded' }]);
    expect(await settledDeliveries(service.api, other, event)).toMatchObject([
      { status: 'canceled', error: { code: 'webhook_disabled' } },
    ]);
    expect(disabled.calls).toEqual([]);
  });

  it('fails a test with proxy_failed', async () => {
    const webhook = await subscribe(service.api, receiver.hook(), ['job.started']);
    await proxy.cut();
    const tested = await dataOf(service.api.testWebhook(webhook.id));
    expect(tested).toMatchObject({
      ...{ status: 'failed', waitsFor: null, error: { code: 'proxy_failed' }, response: null, nextAttemptAt: null },
    });
    expect(tested.error?.message).not.toMatch(/127|ECONN/);
    await proxy.restore();
    expect(await dataOf(service.api.testWebhook(webhook.id))).toMatchObject({ status: 'succeeded' });
  });

  it('reports a refusal of the proxy as unreachable, and shows nothing of its response', async () => {
    const webhook = await subscribe(service.api, { url: `http://127.0.0.1:${await freePort()}/` }, ['job.started']);
    const tested = await dataOf(service.api.testWebhook(webhook.id));
    expect(tested).toMatchObject({ status: 'failed', error: { code: 'unreachable' }, response: null });
    expect(JSON.stringify(tested) + service.logs()).not.toContain('canary');
    const event = await publish(service.api, 'job.started');
    await waitFor(async () => (await deliveriesOf(service.api, webhook, event)).length === 2, { what: 'the retry' });
    expect(await deliveriesOf(service.api, webhook, event)).toMatchObject([
      { status: 'failed', error: { code: 'unreachable' } },
      { attempt: 2 },
    ]);
  });

  it('sends nothing to the proxy itself', async () => {
    const webhook = await subscribe(service.api, { url: `${proxy.url}/` }, ['job.started']);
    const event = await publish(service.api, 'job.started');
    expect(await settledDeliveries(service.api, webhook, event)).toMatchObject([
      { status: 'failed', error: { code: 'destination_blocked' }, nextAttemptAt: null },
    ]);
    expect(targetsOf(proxy)).not.toContain(hostOf(proxy.url));
  });
});

describe('The credentials of an egress proxy', () => {
  const receiver = useReceiver();
  const PASSWORD = 'p@ss:canary/ü';
  const BASIC = Buffer.from(`user:${PASSWORD}`).toString('base64');
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'proxy-'))));
  afterAll(() => rm(folder, { recursive: true }));

  it('can be in a file, and appear in no log, response or row', async () => {
    const proxy = await startProxy();
    const path = join(folder, 'proxy');
    await writeFile(path, `${proxy.url.replace('//', `//user:${encodeURIComponent(PASSWORD)}@`)}\n`);
    await withService({ EGRESS_PROXY_FILE: path, ROLE: 'api', LOG_LEVEL: 'trace' }, async ({ api, database, logs }) => {
      const webhook = await subscribe(api, receiver.hook(), ['job.started']);
      const answers = [await dataOf(api.testWebhook(webhook.id))];
      proxy.behave((client) =>
        client.end(`HTTP/1.1 407 the-reason\r\nproxy-authenticate: Basic realm="${BASIC}"\r\n\r\n`),
      );
      proxy.hangUp();
      answers.push(await dataOf(api.testWebhook(webhook.id)));
      await proxy.cut();
      answers.push(await dataOf(api.testWebhook(webhook.id)));
      expect(answers.map(({ status, error }) => error?.code ?? status)).toEqual([
        ...['succeeded', 'proxy_failed', 'proxy_failed'],
      ]);
      expect(new Set(proxy.requests.map(({ headers }) => headers['proxy-authorization']))).toEqual(
        new Set([`Basic ${BASIC}`]),
      );
      const rows = await database.query('select d::text from webhook_service.deliveries d');
      const shown = JSON.stringify([answers, rows]) + logs();
      for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), BASIC, 'realm', 'the-reason'])
        expect(shown).not.toContain(secret);
      // Ids and times may contain these digits, too.
      expect(answers.map(({ error }) => error?.message).join()).not.toContain('407');
      expect(logs()).toContain(
        'The egress proxy failed; requests through it will be retried: it requires other credentials',
      );
    });
  });

  it('cannot be set twice', async () => {
    const path = join(folder, 'twice');
    await writeFile(path, 'http://user:canary@127.0.0.2:3128');
    const start = startService({ EGRESS_PROXY: 'http://user:canary@127.0.0.2:3128', EGRESS_PROXY_FILE: path });
    const problem = await start.then(String, String);
    expect(problem).toContain('EGRESS_PROXY_FILE cannot be set together with EGRESS_PROXY.');
    expect(problem).not.toContain('canary');
  });
});

describe('An identity provider', () => {
  let key: SigningKey;
  let provider: IdentityProvider;
  beforeAll(async () => {
    key = await makeKey('first');
    provider = await startIdentityProvider(key);
  });
  afterAll(() => provider.stop());
  const statusOf = async ({ url }: Service) => (await new Api(url, await sign(key)).me()).status;

  it.each<[string, Settings, boolean]>([
    ['through the proxy', {}, true],
    ['without it when NO_PROXY lists its host', { NO_PROXY: 'other.example, 127.0.0.1' }, false],
  ])('is asked for its keys %s', async (_, settings, isProxied) => {
    const proxy = await startProxy();
    const jwts = { AUTH_JWKS_URL: provider.url, AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE };
    await withService({ ...jwts, EGRESS_PROXY: proxy.url, ...settings }, async (service) => {
      if (isProxied) proxy.behave((client) => client.end());
      expect(await statusOf(service)).toBe(isProxied ? 503 : 200);
      proxy.behave(null);
      await waitFor(async () => (await statusOf(service)) === 200, { what: 'the keys', everyMs: 500 });
    });
    expect(new Set(targetsOf(proxy))).toEqual(new Set(isProxied ? [hostOf(provider.url)] : []));
  });
});

describe('A social account', () => {
  const server = useFollowerServer();
  const trust = useFollowerTrust();

  it('is read through the proxy, and as unreachable while that fails', async () => {
    const proxy = await startProxy();
    server.serve([{ id: '1', name: 'ada@far.example' }]);
    await withService({ ...trust(), EGRESS_PROXY: proxy.url }, async ({ api, database }) => {
      const { id } = await dataOf(api.createAccount({ provider: 'mastodon', handle: `ada@${server.host}` }), 201);
      const reading = (
        what: string,
        isIt: (account: { lastError: string | null; followersCount: number | null }) => boolean,
      ) => waitFor(async () => isIt(await dataOf(api.readAccount(id))), { what });
      await reading('a reading', ({ followersCount }) => followersCount === 1);
      expect(new Set(targetsOf(proxy))).toEqual(new Set([server.host]));
      await proxy.cut();
      await database.query('update webhook_service.accounts set next_reading_at = now()');
      await reading('an error', ({ lastError }) => /because the proxy of this service failed/.test(lastError ?? ''));
    });
  });
});
