import { randomBytes } from 'node:crypto';
import { type Api, dataOf, type Delivery } from '../../support/api';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import {
  defaultSettings,
  freePort,
  runCommand,
  runServiceFile,
  type Service,
  type Settings,
  startService,
  useService,
} from '../../support/service';
import { cryptoSignature } from '../../support/signatures';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { scrape, sumOf } from '../stage/metrics';
import { deleteWebhooks, deliveriesOf, publish, settledDeliveries, subscribe } from '../stage/steps';

const newKey = () => randomBytes(32).toString('base64');

/** What an owner reads of an attempt that the service itself cannot make. */
const OPERATORS = { code: 'service_failed', message: expect.stringContaining('Your receiver is not the cause.') };
const WAITS = { status: 'pending', attempt: 1, waitsFor: 'operator', attemptedAt: null, error: OPERATORS };

const waiting = (api: Api, webhook: { id: string }, event: { id: string }): Promise<Delivery> =>
  waitFor(async () => (await deliveriesOf(api, webhook, event)).find(({ waitsFor }) => waitsFor === 'operator'), {
    what: 'the delivery to wait for the operator',
  });

/** Makes waiting rows due, as 30 s do. */
const makeDue = (database: TestDatabase) =>
  database.query(
    `update webhook_service.deliveries set scheduled_at = now(), leased_until = case when url is null then 'infinity' else now() end
     where status = 'pending' and error_code = 'service_failed' and not claimed`,
  );

const readinessOf = async ({ url }: Service): Promise<{ checks: Record<string, string>; details?: unknown }> =>
  (await (await fetch(`${url}/health/ready`)).json()) as { checks: Record<string, string> };

const untilKeysAre = (service: Service, verdict: 'well' | 'not well') =>
  waitFor(async () => (await readinessOf(service)).checks.secrets === verdict, { what: `secrets: ${verdict}` });

describeOnStores('A stored secret', (store) => {
  let metricsPort: number;
  beforeAll(async () => (metricsPort = await freePort()));
  const service = useService(() => ({ ...store.settings(), METRICS_PORT: String(metricsPort) }));
  const receiver = useReceiver();
  afterEach(() => deleteWebhooks(service.api));

  it('that was copied into another webhook signs nothing there, and nothing is sent unsigned', async () => {
    const [ownHook, otherHook] = [receiver.hook(), receiver.hook()];
    const own = await subscribe(service.api, ownHook, ['job.started'], { secret: 'the secret of one' });
    const other = await subscribe(service.api, otherHook, ['job.started'], { secret: 'of the other one' });
    await service.database.query(
      `update webhook_service.webhooks set secret = (select secret from webhook_service.webhooks where id = $1)
       where id = $2`,
      [own.id, other.id],
    );
    expect((await readinessOf(service)).checks).toMatchObject({ secrets: 'well' });
    const event = await publish(service.api, 'job.started');
    expect(await settledDeliveries(service.api, own, event)).toMatchObject([{ status: 'succeeded' }]);
    const row = await waiting(service.api, other, event);
    expect(row).toMatchObject({ ...WAITS, responseStatus: null, completedAt: null, nextAttemptAt: null });
    const tested = await dataOf(service.api.testWebhook(other.id));
    expect(tested).toMatchObject({
      ...{ status: 'failed', trigger: 'test', waitsFor: null, error: OPERATORS, request: null, response: null },
    });
    expect(otherHook.calls).toEqual([]);
    expect(await readinessOf(service)).toMatchObject({
      ...{ status: 'not ready', checks: { secrets: 'not well', postgres: 'well' } },
      details: { secrets: 'SECRETS_KEY does not decrypt every stored secret.' },
    });
    expect(service.logs()).toMatch(/"level":50.*SECRETS_KEY does not decrypt a secret of webhook/);
    expect(sumOf(await scrape(metricsPort), 'webhooks_operator_failures_total')).toBeGreaterThanOrEqual(1);
    await dataOf(service.api.updateWebhook(other.id, { secret: 'a secret again' }));
    await untilKeysAre(service, 'well');
    await makeDue(service.database);
    expect(await settledDeliveries(service.api, other, event)).toMatchObject([
      { id: row.id, attempt: 1, status: 'succeeded', error: null },
    ]);
    expect(await dataOf(service.api.readWebhook(other.id))).toMatchObject({ consecutiveFailures: 0 });
  });

  it('is waited for only as long as its webhook is active', async () => {
    const webhook = await subscribe(service.api, receiver.hook(), ['job.started']);
    await service.database.query('update webhook_service.webhooks set secret = $2 where id = $1', [
      webhook.id,
      randomBytes(60),
    ]);
    await waiting(service.api, webhook, await publish(service.api, 'job.started'));
    await untilKeysAre(service, 'not well');
    await dataOf(service.api.updateWebhook(webhook.id, { active: false }));
    await untilKeysAre(service, 'well');
  });
});

describeOnStores('A key that opens some secrets and not others', (store) => {
  const receiver = useReceiver();

  it('lets only deliveries wait that need another one, also for their headers, previous secrets and consumers', async () => {
    const [present, absent] = [newKey(), newKey()];
    const database = await cloneDatabase();
    const start = (SECRETS_KEY: string) => startService({ ...store.settings(), SECRETS_KEY }, database);
    const hooks = Array.from({ length: 4 }, () => receiver.hook());
    const [whole, headed, rotated, lost] = hooks as [
      (typeof hooks)[0],
      (typeof hooks)[0],
      (typeof hooks)[0],
      (typeof hooks)[0],
    ];
    try {
      const before = await start(present);
      const { api } = before;
      const fine = await subscribe(api, whole, ['job.started']);
      const withHeader = await subscribe(api, headed, ['job.started'], { headers: { 'x-key': 'a value' } });
      const inOverlap = await subscribe(api, rotated, ['job.started']);
      expect(await before.stop()).toBe(0);

      const between = await start(`${absent},${present}`);
      await dataOf(between.api.updateWebhook(withHeader.id, { headers: { 'x-key': 'a newer value' } }));
      await dataOf(between.api.rotateSecret(inOverlap.id, { overlapSeconds: 3600 }));
      const unreadable = await subscribe(between.api, lost, ['job.started']);
      const pulled = await dataOf(between.api.createWebhook({ kind: 'pull', events: ['job.started'] }), 201);
      expect(await between.stop()).toBe(0);
      // The secret in force is under the present key again, the previous one is not.
      await database.query(
        `update webhook_service.webhooks set secret = previous_secret, previous_secret = secret where id = $1`,
        [inOverlap.id],
      );

      const after = await start(present);
      const event = await publish(after.api, 'job.started');
      expect(await settledDeliveries(after.api, fine, event)).toMatchObject([{ status: 'succeeded', attempt: 1 }]);
      for (const webhook of [withHeader, inOverlap, unreadable])
        expect(await waiting(after.api, webhook, event)).toMatchObject(WAITS);
      expect(await dataOf(after.api.lease(pulled.id, {}))).toEqual([]);
      expect(await waiting(after.api, pulled, event)).toMatchObject(WAITS);
      expect(hooks.map(({ calls }) => calls.length)).toEqual([1, 0, 0, 0]);
      expect(await readinessOf(after)).toMatchObject({ checks: { secrets: 'not well' } });
      expect(await after.stop()).toBe(0);

      const both = await start(`${present},${absent}`);
      await makeDue(database);
      for (const webhook of [withHeader, inOverlap, unreadable])
        expect(await settledDeliveries(both.api, webhook, event)).toMatchObject([{ status: 'succeeded', attempt: 1 }]);
      expect(headed.calls[0]?.headers['x-key']).toBe('a newer value');
      expect(await dataOf(both.api.lease(pulled.id, {}))).toHaveLength(1);
      expect(await readinessOf(both)).toMatchObject({ checks: { secrets: 'well' } });
      expect(await both.stop()).toBe(0);
    } finally {
      await database.drop();
    }
  });
});

describe('SECRETS_KEY', () => {
  const receiver = useReceiver();
  let database: TestDatabase;
  beforeEach(async () => (database = await cloneDatabase()));
  afterEach(() => database.drop());

  const settingsWith = (SECRETS_KEY: string, more: Settings = {}): Settings => ({
    ...defaultSettings(database.url, `wns_${'a'.repeat(43)}`),
    ...{ SECRETS_KEY, ...more },
  });
  const startWith = async (keys: string, more: Settings = {}) =>
    runServiceFile('src/main.js', [], settingsWith(keys, { PORT: String(await freePort()), ...more }));
  const expectRefused = async (keys: string, more: Settings = {}) => {
    const { exitCode, stderr } = await startWith(keys, more);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/SECRETS_KEY does not decrypt .* Missing: [0-9a-f]{8}.* Given: [0-9a-f]{8}.*rekey/);
    expect(stderr).not.toContain(keys);
  };
  const runWith = async (SECRETS_KEY: string, work: (service: Service) => Promise<unknown> = async () => undefined) => {
    const service = await startService({ SECRETS_KEY }, database);
    try {
      await work(service);
    } finally {
      expect(await service.stop()).toBe(0);
    }
  };

  it('of another installation stops the start of a process of any role', async () => {
    const key = newKey();
    await runWith(key);
    for (const ROLE of ['all', 'api', 'worker']) await expectRefused(newKey(), { ROLE });
    await runWith(`${newKey()},${key}`);
  });

  it('is taken after an upgrade only when it decrypts a stored secret', async () => {
    const [key, other] = [newKey(), newKey()];
    await runWith(key, async ({ api }) => {
      await subscribe(api, receiver.hook(), ['job.started']);
    });
    // As an upgraded database has none.
    await database.query('update webhook_service.installation set secrets_check = null');
    await expectRefused(other);
    await runWith(`${other},${key}`);
    await runWith(other);
    await expectRefused(key);
  });

  it('is taken by the first of two processes that start together', async () => {
    const keys = [newKey(), newKey()];
    const ports = [String(await freePort()), String(await freePort())];
    const outcomes = keys.map((SECRETS_KEY, i) =>
      startService({ SECRETS_KEY, PORT: ports[i]! }, database).catch((error: Error) => error),
    );
    const started = await Promise.all(outcomes);
    const services = started.filter((one): one is Service => !(one instanceof Error));
    expect(services).toHaveLength(1);
    expect(String(started.find((one) => one instanceof Error))).toContain('SECRETS_KEY does not decrypt');
    expect(await services[0]!.stop()).toBe(0);
  });

  it('that is replaced makes processes without the new one unready, and others send their deliveries', async () => {
    const [oldKey, key] = [newKey(), newKey()];
    const hook = receiver.hook();
    await runWith(oldKey, async (behind) => {
      const webhook = await subscribe(behind.api, hook, ['job.started']);
      expect(await readinessOf(behind)).toMatchObject({ checks: { secrets: 'well' } });
      expect(await runCommand(['rekey'], settingsWith(`${key},${oldKey}`))).toMatchObject({ exitCode: 0 });
      await untilKeysAre(behind, 'not well');
      const event = await publish(behind.api, 'job.started');
      await waiting(behind.api, webhook, event);
      await runWith(key, async () => {
        await waitFor(
          async () => {
            await makeDue(database);
            return hook.calls.length > 0;
          },
          { what: 'the delivery by the process that has the key' },
        );
        expect(await settledDeliveries(behind.api, webhook, event)).toMatchObject([
          { status: 'succeeded', attempt: 1 },
        ]);
      });
      await expectRefused(oldKey);
    });
  });

  it('that is lost is given up only by force', async () => {
    const [lost, key] = [newKey(), newKey()];
    let id = '';
    await runWith(lost, async ({ api }) => ({ id } = await subscribe(api, receiver.hook(), ['job.started'])));
    const kept = await runCommand(['rekey'], settingsWith(key));
    expect([kept.exitCode, kept.stderr]).toEqual([1, expect.stringContaining('--force')]);
    expect(kept.stderr).toContain(id);
    await expectRefused(key);
    expect((await runCommand(['rekey', '--force'], settingsWith(key))).exitCode).toBe(1);
    await expectRefused(lost);
    await runWith(key);
  });

  it('is changed in the documented order, and every delivery stays signed', async () => {
    const [oldKey, key] = [newKey(), newKey()];
    const hook = receiver.hook();
    let sent = 0;
    const deliverWith = (keys: string, work: () => Promise<void> = async () => undefined) =>
      runWith(keys, async ({ api }) => {
        if (sent === 0) await subscribe(api, hook, ['job.started'], { secret: 'a secret of mine' });
        await work();
        await publish(api, 'job.started');
        const call = (await hook.received((sent += 1))).at(-1)!;
        expect(call.headers['x-service-signature']).toBe(cryptoSignature(call.body, 'a secret of mine'));
      });
    await deliverWith(oldKey);
    await deliverWith(`${key},${oldKey}`, async () => {
      const rotated = await runCommand(['rekey'], settingsWith(`${key},${oldKey}`));
      expect(rotated).toEqual({
        exitCode: 0,
        stdout: 'Re-encrypted: 1. Already under the first key: 0.\n',
        stderr: '',
      });
    });
    await deliverWith(key);
    // Three services one after the other, and a command.
  });
});
