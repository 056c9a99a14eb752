import { dataOf, type Delivery } from '../../support/api';
import { type RootAnswer, useHostileDns } from '../../support/hostile-dns';
import { useReceiver } from '../../support/receiver';
import { freePort, useService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { scrape, sumOf } from '../stage/metrics';
import { deleteWebhooks, deliveriesOf, publish, settledDeliveries, subscribe } from '../stage/steps';

describeOnStores('While the name servers of the service are down', (store) => {
  const startDns = useHostileDns();
  const receiver = useReceiver();
  let answersRoot: ReturnType<RootAnswer>;
  let isDown: boolean;
  let server: string;
  let metricsPort: number;
  beforeAll(async () => {
    const dns = await startDns(
      (name, type) => (isDown || name.startsWith('broken') ? 'SERVFAIL' : type === 'A' ? ['127.0.0.1'] : []),
      () => answersRoot,
    );
    server = dns.server;
    metricsPort = await freePort();
  });
  const service = useService(() => ({
    ...store.settings(),
    ...{ DNS_SERVERS: server, METRICS_PORT: String(metricsPort), DISABLE_AFTER_FAILURES: '1' },
    ...{ DISABLE_AFTER_HOURS: '0', RETRY_BASE_DELAY_MS: '3000' },
  }));
  beforeEach(() => {
    isDown = false;
    answersRoot = 'servers';
  });
  afterEach(() => deleteWebhooks(service.api));

  const goDown = () => {
    isDown = true;
    answersRoot = 'SERVFAIL';
  };
  const named = (name: string) => {
    const hook = receiver.hook();
    return { hook, url: hook.url.replace(/127\.0\.0\.1|localhost/, name) };
  };
  const waiting = (webhook: { id: string }, event: { id: string }): Promise<Delivery> =>
    waitFor(async () => (await deliveriesOf(service.api, webhook, event)).find(({ waitsFor }) => waitsFor === 'dns'), {
      what: 'the delivery to wait for the name servers',
    });
  const makeDue = () =>
    service.database.query(
      `update webhook_service.deliveries set scheduled_at = now(), leased_until = now()
       where status = 'pending' and error_code = 'dns_failed' and not claimed`,
    );

  it('deliveries wait, no attempt counts, and the process stays ready', async () => {
    const { hook, url } = named('receiver.example.test');
    const webhook = await subscribe(service.api, { url }, ['job.started']);
    goDown();
    const event = await publish(service.api, 'job.started');
    const row = await waiting(webhook, event);
    const error = { code: 'dns_failed', message: expect.stringContaining('Your receiver is not the cause.') };
    expect(row).toMatchObject({ status: 'pending', attempt: 1, attemptedAt: null, nextAttemptAt: null, error });
    expect(Date.parse(row.scheduledAt) - Date.now()).toBeGreaterThan(20_000);
    expect(await dataOf(service.api.testWebhook(webhook.id))).toMatchObject({ status: 'failed', error });
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect(service.logs()).toMatch(/"level":40.*name servers of this service do not answer/);
    expect(sumOf(await scrape(metricsPort), 'webhooks_dns_failures_total')).toBeGreaterThanOrEqual(1);
    isDown = false;
    answersRoot = 'servers';
    await makeDue();
    expect(await settledDeliveries(service.api, webhook, event)).toMatchObject([
      { id: row.id, status: 'succeeded', attempt: 1, error: null },
    ]);
    expect(hook.calls).toHaveLength(1);
    expect(await dataOf(service.api.readWebhook(webhook.id))).toMatchObject({
      ...{ active: true, consecutiveFailures: 0, lastFailureAt: null },
    });
    expect(service.logs()).toContain('The name servers of this service answer again.');
  });

  it('a name whose own servers fail is still the webhook’s', async () => {
    const webhook = await subscribe(service.api, { url: named('broken.example.test').url }, ['job.started'], {
      retryDelaysMs: [],
    });
    const event = await publish(service.api, 'job.started');
    expect(await settledDeliveries(service.api, webhook, event)).toMatchObject([
      { status: 'failed', attempt: 1, error: { code: 'dns_not_found' } },
    ]);
    await waitFor(async () => !(await dataOf(service.api.readWebhook(webhook.id))).active, { what: 'the disabling' });
  });
});
