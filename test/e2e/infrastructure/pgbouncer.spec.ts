import { exchange } from '../../support/api';
import { type PgBouncer, usePgBouncer } from '../../support/pgbouncer';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { defaultSettings, type Finished, runCommand, runServiceFile, startService } from '../../support/service';
import { describeOnStores } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

const SHARED_SESSIONS =
  /^DATABASE_URL leads to a connection pooler in transaction or statement mode.*session mode.*\n$/;

describe('PgBouncer', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await cloneDatabase();
  });
  afterAll(() => database.drop());
  const start = usePgBouncer();

  async function startsThrough(pooler: PgBouncer, file: 'main' | 'migrate'): Promise<Finished> {
    const settings = defaultSettings(pooler.urlOf(database.url), `wns_${'a'.repeat(43)}`);
    return file === 'main' ? runServiceFile('src/main.js', [], settings) : runCommand(['migrate'], settings);
  }

  describe.each(['transaction', 'statement'] as const)('in %s mode', (mode) => {
    it.each(['main', 'migrate'] as const)('stops %s with one sentence and exit code 1', async (file) => {
      const { exitCode, stderr } = await startsThrough(await start(mode), file);
      expect(stderr).toMatch(SHARED_SESSIONS);
      expect(exitCode).toBe(1);
    });
  });

  it('in session mode lets the migrations run', async () => {
    expect(await startsThrough(await start('session'), 'migrate')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  describeOnStores('in session mode', (store) => {
    const receiver = useReceiver();

    it('carries the service, also after it is killed and restarted', async () => {
      const pooler = await start('session');
      const own = await cloneDatabase();
      const service = await startService({ ...store.settings(), DATABASE_URL: pooler.urlOf(own.url) }, own);
      try {
        const arrives = async () => {
          const hook = receiver.hook({ status: 500 }, { status: 200 });
          const webhook = await subscribe(service.api, hook, ['job.started']);
          const deliveries = await settledDeliveries(service.api, webhook, await publish(service.api, 'job.started'));
          expect(deliveries.map(({ status }) => status)).toEqual(['failed', 'succeeded']);
        };
        await arrives();
        expect(service.logs()).not.toMatch(/"level":(40|50)/);
        await pooler.restart();
        const isReady = async () => (await exchange(service.url, 'GET', '/health/ready')).status === 200;
        await waitFor(isReady, { what: 'a service that is ready again' });
        await arrives();
      } finally {
        expect(await service.stop()).toBe(0);
        await own.drop();
      }
    });
  });
});
