import { dataOf, exchange } from '../../support/api';
import { cloneDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { defaultSettings, runServiceFile, type Service, startService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

const isClosed = (service: Service): Promise<boolean> =>
  exchange(service.url, 'GET', '/health/ready').then(
    ({ status }) => status === 503,
    () => true,
  );

describeOnStores('A service that is told to end', (store) => {
  const receiver = useReceiver();

  it.each(['SIGTERM', 'SIGINT'] as const)('by %s finishes the delivery in flight and exits with 0', async (signal) => {
    const database = await cloneDatabase();
    let release: () => void = () => undefined;
    const hook = receiver.hook({ after: new Promise<void>((resolve) => (release = resolve)) });
    const service = await startService({ ...store.settings(), DELIVERY_TIMEOUT_MS: '60000' }, database);
    try {
      await subscribe(service.api, hook, ['job.started']);
      await publish(service.api, 'job.started');
      await hook.received(1);
      const exitCode = service.stop(signal);
      await waitFor(() => isClosed(service), { what: 'the end of readiness' });
      release();
      expect(await exitCode).toBe(0);
      const rows = await database.query('select status, response_status from webhook_service.deliveries');
      expect(rows).toEqual([{ status: 'succeeded', response_status: 200 }]);
      expect(hook.calls).toHaveLength(1);
    } finally {
      release();
      await service.kill();
      await database.drop();
    }
  });

  it('answers consumers that wait at once, with nothing', async () => {
    const database = await cloneDatabase();
    const service = await startService(store.settings(), database);
    try {
      const { id } = await dataOf(service.api.createWebhook({ kind: 'pull', events: ['*'] }), 201);
      const askedAt = Date.now();
      const waiting = [1, 2, 3].map(() => dataOf(service.api.lease(id, { waitSeconds: 20 })));
      const hasAsked = async () => (await dataOf(service.api.readWebhook(id))).lastLeasedAt !== null;
      await waitFor(hasAsked, { what: 'consumers' });
      const exitCode = service.stop();
      expect(await Promise.all(waiting)).toEqual([[], [], []]);
      // eslint-disable-next-line no-restricted-syntax -- what they have asked to wait for
      expect(Date.now() - askedAt).toBeLessThan(20_000);
      expect(await exitCode).toBe(0);
    } finally {
      await service.kill();
      await database.drop();
    }
  });

  it('finds its webhooks, and the retries that are due, again at the next start', async () => {
    const database = await cloneDatabase();
    const hook = receiver.hook({ status: 500 }, { status: 200 });
    const settings = { ...store.settings(), SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') };
    const first = await startService({ ...settings, RETRY_BASE_DELAY_MS: '1500' }, database);
    let second: Service | undefined;
    try {
      const webhook = await subscribe(first.api, hook, ['job.started'], { secret: 'a secret of mine' });
      const event = await publish(first.api, 'job.started');
      await waitFor(async () => (await dataOf(first.api.listDeliveries(webhook.id))).length === 2, { what: 'a retry' });
      expect(await first.stop()).toBe(0);
      second = await startService(settings, database);
      const rows = await settledDeliveries(second.api, webhook, event);
      expect(rows.map(({ status }) => status)).toEqual(['failed', 'succeeded']);
      expect(await second.stop()).toBe(0);
    } finally {
      await first.kill();
      await second?.kill();
      await database.drop();
    }
  });
});

describe('A port that is in use', () => {
  it('is told clearly, and the exit code is not 0', async () => {
    const service = await startService();
    const database = await cloneDatabase();
    try {
      const { port } = new URL(service.url);
      const settings = { ...defaultSettings(database.url, service.token), PORT: port };
      const { exitCode, stdout, stderr } = await runServiceFile('src/main.js', [], settings);
      expect(exitCode).not.toBe(0);
      expect(exitCode).not.toBeNull();
      const told = (stdout + stderr).split('\n').find((line) => line.includes(port) && /in use/i.test(line));
      expect(told).toBeDefined();
      expect(stderr).not.toMatch(/^\s+at /m);
    } finally {
      await service.stop();
      await database.drop();
    }
  });
});
