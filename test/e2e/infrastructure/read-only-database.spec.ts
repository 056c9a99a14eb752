import { dataOf, errorOf, exchange } from '../../support/api';
import { startProxy, type TcpProxy } from '../../support/proxy';
import { type Hook, useReceiver } from '../../support/receiver';
import { defaultSettings, runServiceFile, type Service, startService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { EXAMPLES } from '../stage/examples';
import { ask, type PostgresPair, startPostgresPair } from '../stage/postgres-pair';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

// Two servers are started and copied before the first test.

const REFUSED = 'The service is not ready: its database takes no writes. Please try again in a moment.';
const EVENT = { event: 'job.started', data: EXAMPLES['job.started'] };

describeOnStores('A service whose database takes no writes', (store) => {
  const receiver = useReceiver();
  let pair: PostgresPair;
  let address: TcpProxy;
  let service: Service;
  let hook: Hook;
  let webhook: { id: string };

  beforeAll(async () => {
    pair = await startPostgresPair();
    address = await startProxy(pair.primary.port);
    const url = new URL(pair.primary.url);
    url.port = String(address.port);
    const database = { url: url.href, query: <Row extends object>(sql: string) => ask<Row>(url.href, sql), drop: stop };
    service = await startService({ ...store.settings(), LOG_LEVEL: 'warn' }, database);
    hook = receiver.hook();
    webhook = await subscribe(service.api, hook, ['job.started']);
  });
  const stop = async () => undefined;
  afterAll(async () => {
    await service?.stop();
    await address?.stop();
    await pair?.stop();
  });

  const readiness = async () => {
    const { status, text } = await exchange(service.url, 'GET', '/health/ready');
    const { checks, details } = JSON.parse(text) as { checks: object; details?: object };
    return { status, text, checks, details };
  };
  const isReady = async () => (await readiness()).status === 200;
  const refusesWrites = async () => {
    const { status, text, checks, details } = await readiness();
    if (status === 200) return false;
    expect(text).not.toContain('127.0.0.1');
    return JSON.stringify([checks, details]).includes('takes no writes') && { checks, details };
  };
  const moveTo = async (server: { port: number }) => {
    address.retarget(server.port);
    await address.cut();
    await address.pass();
  };
  const delivers = async () => {
    const event = await publish(service.api, 'job.started');
    const [delivery] = await settledDeliveries(service.api, webhook, event);
    expect(delivery!.status).toBe('succeeded');
  };

  it('is not ready and says why, answers reads, and refuses writes with a message', async () => {
    await ask(pair.primary.url, 'alter system set default_transaction_read_only = on');
    await ask(pair.primary.url, 'select pg_reload_conf()');
    const { checks, details } = await waitFor(refusesWrites, { what: 'a service that is not ready' });
    expect(checks).toMatchObject({ postgres: 'not well' });
    expect(details).toMatchObject({ postgres: 'The database takes no writes.' });
    expect(await errorOf(service.api.publish(EVENT), 'unavailable')).toBe(REFUSED);
    expect(await errorOf(service.api.updateWebhook(webhook.id, { description: 'changed' }), 503)).toBe(REFUSED);
    await dataOf(service.api.listWebhooks());
    await ask(pair.primary.url, 'alter system reset default_transaction_read_only');
    await ask(pair.primary.url, 'select pg_reload_conf()');
    await waitFor(isReady, { what: 'a service that is ready again' });
    await delivers();
  });

  it('leaves a standby as soon as its address leads to a server that takes writes', async () => {
    await moveTo(pair.standby);
    await waitFor(refusesWrites, { what: 'a service on a standby' });
    expect(await errorOf(service.api.publish(EVENT), 503)).toBe(REFUSED);
    // The standby lives on, and ends no connection.
    address.retarget(pair.primary.port);
    await waitFor(isReady, { what: 'a service on the primary' });
    await delivers();
    const left = async () => {
      const sql = `select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
      return (await ask(pair.standby.url, sql)).length === 0;
    };
    await waitFor(left, { what: 'a standby without connections' });
  });

  it('does not start on a standby, and says why', async () => {
    const settings = { ...defaultSettings(pair.standby.url, service.token), ...store.settings(), PORT: '0' };
    const { exitCode, stderr } = await runServiceFile('src/main.js', [], settings);
    expect(stderr).toMatch(/^The database of DATABASE_URL takes no writes: it is a standby, .*\n$/);
    expect(exitCode).toBe(1);
  });

  it('goes on when the standby is promoted', async () => {
    await pair.primary.stop();
    await moveTo(pair.standby);
    await waitFor(refusesWrites, { what: 'a service on a standby' });
    await ask(pair.standby.url, 'select pg_promote()');
    await waitFor(isReady, { what: 'a service on the promoted standby' });
    await delivers();
  });
});
