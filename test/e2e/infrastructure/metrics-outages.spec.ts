import { once } from 'node:events';
import { createServer } from 'node:net';
import { scrape, sumOf } from '../stage/metrics';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { startProxy, type TcpProxy } from '../../support/proxy';
import { useReceiver } from '../../support/receiver';
import { defaultSettings, freePort, runServiceFile, type Service, startService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

// What is given up, what is made anew and what is read again takes some 10 s a test.

const throughPort = (text: string, port: number): string => {
  const url = new URL(text);
  url.port = String(port);
  return url.href;
};

describeOnStores('The metrics of a service whose store goes away', (store) => {
  let database: TestDatabase;
  let proxies: Record<'postgres' | 'queue', TcpProxy>;
  let service: Service;
  let port: number;

  beforeAll(async () => {
    database = await cloneDatabase();
    const { REDIS_URL } = store.settings();
    const postgres = await startProxy(Number(new URL(database.url).port));
    proxies = { postgres, queue: REDIS_URL ? await startProxy(Number(new URL(REDIS_URL).port)) : postgres };
    port = await freePort();
    const settings = {
      METRICS_PORT: String(port),
      DATABASE_URL: throughPort(database.url, postgres.port),
      REDIS_URL: REDIS_URL && throughPort(REDIS_URL, proxies.queue.port),
    };
    service = await startService(settings, database);
  });
  afterAll(async () => {
    await service.stop();
    for (const proxy of new Set(Object.values(proxies))) await proxy.stop();
    await database.drop();
  });

  const areThere = async () => {
    const scraped = await scrape(port);
    return (
      sumOf(scraped, 'webhooks_unattended_rows') === 0 && sumOf(scraped, 'webhooks_queue_jobs') !== undefined && scraped
    );
  };

  /** What each part takes with it when it goes: its check, and its metrics. */
  const parts =
    store.name === 'Redis'
      ? ([
          ['postgres', ['postgres'], ['webhooks_unattended_rows']],
          ['queue', ['queue'], ['webhooks_queue_jobs']],
        ] as const)
      : ([['postgres', ['postgres', 'queue'], ['webhooks_unattended_rows', 'webhooks_queue_jobs']]] as const);
  const faults = ['cut', 'blackHole'] as const;

  it.each(parts.flatMap((part) => faults.map((fault) => [part[0], fault, part[1], part[2]] as const)))(
    'go on while %s is away (%s), without those that come from there',
    async (part, fault, checks, missing) => {
      await waitFor(areThere, { what: 'all metrics' });
      await proxies[part][fault]();
      const during = await waitFor(
        async () => {
          const begunAt = performance.now();
          const scraped = await scrape(port);
          // eslint-disable-next-line no-restricted-syntax -- ten times the three seconds of docs/monitoring.md
          expect(performance.now() - begunAt).toBeLessThan(30_000);
          return missing.every((name) => sumOf(scraped, name) === undefined) && scraped;
        },
        { what: 'a scrape without them' },
      );
      expect(sumOf(during, 'webhooks_events_accepted_total')).toBe(0);
      expect(sumOf(during, 'webhooks_postgres_connections')).toBeGreaterThanOrEqual(0);
      const areNotWell = async () => {
        const { values } = await scrape(port);
        return checks.every((check) => values.get(`webhooks_ready{check="${check}"}`) === 0);
      };
      await waitFor(areNotWell, { what: 'what is not well' });
      await proxies[part].pass();
      await waitFor(areThere, { what: 'all metrics again' });
    },
  );
});

describe('The metrics of a process', () => {
  const receiver = useReceiver();

  it('are those of its role, and add up', async () => {
    const database = await cloneDatabase();
    const [atApi, atWorker] = [await freePort(), await freePort()];
    const SECRETS_KEY = Buffer.alloc(32, 1).toString('base64');
    const api = await startService({ ROLE: 'api', METRICS_PORT: String(atApi), SECRETS_KEY }, database);
    // `startService` asks its API whether a process is ready, which one of ROLE=worker has not.
    const worker = await startService({ METRICS_PORT: String(atWorker), SECRETS_KEY }, database);
    try {
      const webhook = await subscribe(api.api, receiver.hook(), ['job.started']);
      await settledDeliveries(api.api, webhook, await publish(api.api, 'job.started'));
      const delivered = async () => sumOf(await scrape(atWorker), 'webhooks_deliveries_succeeded_total') === 1;
      await waitFor(delivered, { what: 'the delivery in the worker' });
      expect(sumOf(await scrape(atApi), 'webhooks_events_accepted_total')).toBe(1);
      expect(sumOf(await scrape(atApi), 'webhooks_deliveries_succeeded_total')).toBe(0);
      expect(sumOf(await scrape(atWorker), 'webhooks_events_accepted_total')).toBe(0);
    } finally {
      await worker.stop();
      await api.stop();
      await database.drop();
    }
  });

  it('stop its start, in words, when their port is taken', async () => {
    const database = await cloneDatabase();
    const taken = createServer().listen(await freePort(), '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const settings = {
      ...defaultSettings(database.url, `wns_${'A'.repeat(43)}`),
      PORT: '0',
      METRICS_PORT: String(port),
    };
    try {
      const { exitCode, stderr } = await runServiceFile('src/main.js', [], settings);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`METRICS_PORT ${port} cannot be opened on 127.0.0.1: EADDRINUSE.`);
    } finally {
      taken.close();
      await database.drop();
    }
  });
});
