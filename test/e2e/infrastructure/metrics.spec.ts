import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { dataOf, exchange } from '../../support/api';
import { metricsIn, type Scrape, scrape, sumOf } from '../stage/metrics';
import { openTransaction } from '../../support/open-transaction';
import { useReceiver } from '../../support/receiver';
import { freePort, type Service, startService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../stage/examples';
import { deliveriesOf, publish, settledDeliveries, subscribe } from '../stage/steps';

/** Every label there is, and what it may say. */
const LABELS: Record<string, RegExp> = {
  source: /^(http|in_process)$/,
  trigger: /^(event|redelivery|test)$/,
  code: /^[a-z_]+$/,
  kind: /^(events|deliveries)$/,
  reason: /^(failing|gone|missing_lock|lock_mismatch|missing_key)$/,
  outcome: /^(succeeded|rejected|timeout)$/,
  check: /^(postgres|queue|sweeper|secrets)$/,
  queue: /^(fan-out|send-\d+|(redis bull|postgres bullmq):reports)$/,
  state: /^(waiting|delayed|total|idle|pending|unattended|deferred)$/,
  version: /^\d+\.\d+\.\d+$/,
  role: /^(all|api|worker)$/,
  le: /^(\+Inf|[\d.]+)$/,
};

const read = (file: string): string => readFileSync(join(__dirname, '../../..', file), 'utf8');

/** Every PromQL expression of the files in ops. */
function expressions(): { dashboard: string[]; alerts: string[] } {
  const { panels } = JSON.parse(read('ops/grafana-dashboard.json')) as { panels: { targets?: { expr: string }[] }[] };
  const alerts = read('ops/alerts.yml')
    .split(/^ +- alert: /m)
    .slice(1);
  return {
    dashboard: panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    alerts: alerts.map((rule) => /^ +expr: (?:\|\n)?([^]*?)\n {8}\w+:/m.exec(rule)?.[1] ?? ''),
  };
}

describeOnStores('The metrics', (store) => {
  const receiver = useReceiver();
  let service: Service;
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    const settings = { METRICS_PORT: String(port), MAX_RETRIES: '1', MONITORED_QUEUES: 'reports' };
    service = await startService({ ...store.settings(), ...settings });
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });

  /** By how much each of them grows through what happens; what is not named is not looked at. */
  async function growth(names: readonly string[], happens: () => Promise<unknown>): Promise<(number | undefined)[]> {
    const before = await scrape(port);
    await happens();
    const after = await scrape(port);
    const valueIn = (scraped: Scrape, name: string) => scraped.values.get(name) ?? sumOf(scraped, name) ?? NaN;
    return names.map((name) => valueIn(after, name) - valueIn(before, name));
  }

  it('stand at 0 before what they count has happened, so that the first increase is seen', async () => {
    const { values } = await scrape(port);
    const monitored = store.name === 'Redis' ? 'redis bull:reports' : 'postgres bullmq:reports';
    expect(values.get('webhooks_attempts_failed_total{code="timeout"}')).toBe(0);
    expect(values.get('webhooks_sweeper_repairs_total{kind="events"}')).toBe(0);
    expect(values.get('webhooks_disabled_total{reason="failing"}')).toBe(0);
    expect(values.get(`webhooks_monitored_queue_losses_total{queue="${monitored}"}`)).toBe(0);
  });

  it('count an event, its delivery, and how long both took', async () => {
    const webhook = await subscribe(service.api, receiver.hook({ delayMs: 300 }), ['job.started']);
    const names = [
      'webhooks_events_accepted_total{source="http"}',
      'webhooks_deliveries_succeeded_total{trigger="event"}',
      'webhooks_attempts_failed_total',
      'webhooks_first_delivery_seconds_count',
      'webhooks_attempt_duration_seconds_count',
      'webhooks_first_delivery_seconds_sum',
    ];
    const [accepted, succeeded, failed, firsts, attempts, seconds] = await growth(names, async () => {
      const event = await publish(service.api, 'job.started');
      await settledDeliveries(service.api, webhook, event);
      await waitFor(async () => sumOf(await scrape(port), 'webhooks_attempts_in_flight') === 0, { what: 'its end' });
    });
    expect([accepted, succeeded, failed, firsts, attempts]).toEqual([1, 1, 0, 1, 1]);
    expect(seconds).toBeGreaterThanOrEqual(0.3);
    // Seconds, not milliseconds.
    expect(seconds).toBeLessThan(300);
    await dataOf(service.api.deleteWebhook(webhook.id));
  });

  it('count a failure by its code, its retry, a redelivery and a test', async () => {
    const hook = receiver.hook({ status: 500 }, { status: 200 });
    const webhook = await subscribe(service.api, hook, ['job.completed']);
    const names = [
      'webhooks_attempts_failed_total{code="http_status"}',
      'webhooks_retries_scheduled_total',
      'webhooks_deliveries_succeeded_total{trigger="event"}',
      'webhooks_deliveries_succeeded_total{trigger="redelivery"}',
      'webhooks_deliveries_succeeded_total{trigger="test"}',
      'webhooks_first_delivery_seconds_count',
    ];
    const grown = await growth(names, async () => {
      const event = await publish(service.api, 'job.completed');
      const rows = await waitFor(
        async () => {
          const log = await deliveriesOf(service.api, webhook, event);
          return log.length === 2 && log[1]!.status === 'succeeded' && log;
        },
        { what: 'the retry' },
      );
      await dataOf(service.api.redeliver(webhook.id, rows[0]!.id), 202);
      await settledDeliveries(service.api, webhook, event);
      await dataOf(service.api.testWebhook(webhook.id));
      await waitFor(async () => sumOf(await scrape(port), 'webhooks_attempts_in_flight') === 0, { what: 'their end' });
    });
    expect(grown).toEqual([1, 1, 1, 1, 1, 0]);
    await dataOf(service.api.deleteWebhook(webhook.id));
  });

  it('count repeats apart, and each event of a batch', async () => {
    const names = ['webhooks_events_accepted_total{source="http"}', 'webhooks_events_repeated_total{source="http"}'];
    const example = { event: 'job.started', data: EXAMPLES['job.started'], idempotencyKey: randomUUID() };
    const grown = await growth(names, async () => {
      await dataOf(service.api.publish(example), 202);
      await dataOf(service.api.publish(example), 202);
      await dataOf(service.api.publishBatch({ events: [{ ...example, idempotencyKey: undefined }, example] }), 202);
    });
    expect(grown).toEqual([2, 2]);
  });

  it('show what is in flight, what waits for its retry, and a webhook that is disabled', async () => {
    let answer = (): void => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    const gone = await subscribe(service.api, receiver.hook({ status: 410, after: held }), ['job.started']);
    const disabled = 'webhooks_disabled_total{reason="gone"}';
    const disabledSoFar = async () => (await scrape(port)).values.get(disabled)!;
    const before = await disabledSoFar();
    const [grown] = await growth([disabled], async () => {
      await publish(service.api, 'job.started');
      await waitFor(async () => sumOf(await scrape(port), 'webhooks_attempts_in_flight') === 1, {
        what: 'one in flight',
      });
      answer();
      await waitFor(async () => !(await dataOf(service.api.readWebhook(gone.id))).active, { what: 'the end of it' });
      await waitFor(async () => sumOf(await scrape(port), 'webhooks_attempts_in_flight') === 0, {
        what: 'none in flight',
      });
      // Counted after it was committed, when others may see it already.
      await waitFor(async () => (await disabledSoFar()) > before, { what: 'the count of it' });
    });
    expect(grown).toBe(1);
  });

  it('show rows that nobody attends to, the depth of the queues, connections and readiness', async () => {
    // What a store did not tell in time is left out until it is read again.
    const isWhole = async () => {
      const scraped = await scrape(port);
      const isRead = (name: string) => sumOf(scraped, name) !== undefined;
      const isWell = sumOf(scraped, 'webhooks_ready') === 4;
      return (
        isWell &&
        isRead('webhooks_oldest_due_seconds') &&
        isRead('webhooks_unattended_rows') &&
        isRead('webhooks_queue_jobs') &&
        scraped
      );
    };
    const { values } = await waitFor(isWhole, { what: 'a scrape of a service that is well' });
    expect(values.get('webhooks_unattended_rows{kind="events"}')).toBe(0);
    expect(values.get('webhooks_unattended_rows{kind="deliveries"}')).toBe(0);
    for (const [kind, states] of Object.entries({ events: ['pending', 'unattended'], deliveries: ['deferred'] })) {
      for (const state of states)
        expect(values.get(`webhooks_oldest_due_seconds{kind="${kind}",state="${state}"}`)).toBe(0);
    }
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(values.get(`webhooks_build_info{version="${version}",role="all"}`)).toBe(1);
    for (const queue of ['fan-out', 'send-0']) {
      for (const state of ['waiting', 'delayed']) {
        expect(values.get(`webhooks_queue_jobs{queue="${queue}",state="${state}"}`)).toBeGreaterThanOrEqual(0);
      }
    }
    expect(values.get('webhooks_postgres_connections{state="total"}')).toBeGreaterThan(0);
    const isCalm = async () => (await scrape(port)).values.get('webhooks_postgres_connections{state="waiting"}') === 0;
    await waitFor(isCalm, { what: 'a moment when no statement waits' });
    for (const check of ['postgres', 'queue', 'sweeper', 'secrets'])
      expect(values.get(`webhooks_ready{check="${check}"}`)).toBe(1);
    expect(values.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
  });

  it('show that statements wait for a lock, and others for a connection', async () => {
    const slow = (name: string) => (scraped: Scrape) =>
      sumOf(scraped, `${name}_count`)! - scraped.values.get(`${name}_bucket{le="0.5"}`)!;
    const [slowStatements, longWaits] = [
      slow('webhooks_postgres_statement_seconds'),
      slow('webhooks_postgres_pool_wait_seconds'),
    ];
    const before = await scrape(port);
    const lock = 'lock table webhook_service.webhooks in access exclusive mode';
    const transaction = await openTransaction(service.database, [lock, []]);
    // The pool has four connections, and a user a third of them.
    const users = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((user) => service.apiFor(user)));
    const answers = users.map((api) => dataOf(api.listWebhooks()));
    await transaction.waitedFor(4);
    const waitsSince = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
      and now() - query_start > interval '0.6 s'`;
    const areSlow = async () => (await service.database.query(waitsSince)).length >= 4;
    await waitFor(areSlow, { what: 'statements that have waited for a while' });
    await transaction.end('rollback');
    await Promise.all(answers);
    // One of the statements may be that of a background loop, which nobody here has awaited.
    await waitFor(async () => slowStatements(await scrape(port)) - slowStatements(before) >= 4, {
      what: 'the statements',
    });
    expect(longWaits(await scrape(port)) - longWaits(before)).toBeGreaterThanOrEqual(1);
  });

  it('show how long the oldest transaction has been open', async () => {
    const age = async () => (await scrape(port)).values.get('webhooks_postgres_oldest_transaction_seconds') ?? 0;
    const transaction = await openTransaction(service.database, ['select pg_current_xact_id()', []]);
    await waitFor(async () => (await age()) > 1, { what: 'an open transaction' });
    await transaction.end('rollback');
    await waitFor(async () => (await age()) < 1, { what: 'the end of it' });
  });

  // Only in PostgreSQL one statement takes a job away from its worker.
  if (store.name === 'PostgreSQL') {
    it('count jobs that were taken from their workers, which print nothing about it', async () => {
      const takeAway = [
        `update webhook_service_queue.job set lock_token = 'of another worker' where state = 'active' returning id`,
        `delete from webhook_service_queue.job where state = 'active' returning id`,
      ];
      const names = ['lock_mismatch', 'missing_key'].map(
        (reason) => `webhooks_queue_stale_jobs_total{reason="${reason}"}`,
      );
      const grown = await growth(names, async () => {
        for (const [i, sql] of takeAway.entries()) {
          let answer = (): void => undefined;
          const held = new Promise<void>((resolve) => (answer = resolve));
          const hook = receiver.hook({ status: 500 }, { after: held });
          const webhook = await subscribe(service.api, hook, ['job.started']);
          const event = await publish(service.api, 'job.started');
          await hook.received(2);
          await waitFor(async () => (await service.database.query(sql)).length > 0, { what: 'the job of the retry' });
          answer();
          await settledDeliveries(service.api, webhook, event);
          const isCounted = async () => (await scrape(port)).values.get(names[i]!)! > 0;
          await waitFor(isCounted, { what: 'the count of the job' });
          await dataOf(service.api.deleteWebhook(webhook.id));
        }
      });
      for (const count of grown) expect(count).toBeGreaterThan(0);
      expect(service.logs()).not.toMatch(/Missing key|Lock mismatch/);
    });
  }

  it('have few labels, none of which identifies a user, webhook, event or url', async () => {
    const own = [...(await scrape(port)).values.keys()].filter((series) => series.startsWith('webhooks_'));
    const labels = own.flatMap((series) => [...series.matchAll(/(\w+)="([^"]*)"/g)]);
    expect(labels.filter(([, name, value]) => !LABELS[name!]?.test(value!)).map(([text]) => text)).toEqual([]);
    expect(own.length).toBeLessThan(150);
  });

  it.each([
    ['GET', '/'],
    ['GET', '/metricsx'],
    ['GET', '/metrics/'],
    ['HEAD', '/metrics'],
    ['POST', '/metrics'],
    ['OPTIONS', '*'],
    ['GET', '/api/me'],
    ['GET', '/health/live'],
    ['GET', '/docs'],
  ])('answer nothing else on their port: %s %s', async (method, path) => {
    const { status, text } = await exchange(`http://127.0.0.1:${port}`, method, path);
    expect([status, text]).toEqual([404, '']);
  });

  it('wait for no client that never asks', async () => {
    const socket = connect(port, '127.0.0.1')
      .on('error', () => undefined)
      .resume();
    socket.write('GET /metrics HTTP/1.1\r\n');
    // It is given 5 s.
    await waitFor(() => socket.closed, { what: 'the end of the connection' });
  });

  it('are not on the port of the API', async () => {
    expect((await exchange(service.url, 'GET', '/metrics')).status).toBe(404);
  });

  it('are what the dashboard, the alerts, docs/monitoring.md and docs/runbook.md speak of', async () => {
    expect(metricsIn('sum by (a) (rate(b_total{c="d"}[5m])) / on (e) f > 0.5 and g unless h{} offset 5m')).toEqual([
      'b_total',
      'f',
      'g',
      'h',
    ]);
    const { names } = await scrape(port);
    const { dashboard, alerts } = expressions();
    expect([...dashboard, ...alerts].filter((one) => metricsIn(one).length === 0)).toEqual([]);
    const asked = [...dashboard, ...alerts].flatMap(metricsIn);
    expect(asked.filter((name) => !names.has(name))).toEqual([]);
    const shown = new Set(dashboard.flatMap(metricsIn));
    const own = [...names].filter((name) => name.startsWith('webhooks_') && !/_(sum|count)$/.test(name));
    expect(own.filter((name) => !shown.has(name))).toEqual([]);
    const explained = [...read('docs/monitoring.md').matchAll(/^\| `(\w+_\w+)` /gm)].map(([, name]) => name!);
    expect(explained.filter((name) => !names.has(name) && !names.has(`${name}_bucket`))).toEqual([]);
    expect(own.filter((name) => !explained.includes(name.replace(/_bucket$/, '')))).toEqual([]);
    const inRunbook = [...read('docs/runbook.md').matchAll(/\bwebhooks_\w+/g)].map(([name]) => name);
    expect(inRunbook.filter((name) => !names.has(name) && !names.has(`${name}_bucket`))).toEqual([]);
  });
});
