import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { database as databaseTransport } from '../../../packages/webhook-notification/src/nest/database.transport';
import type { Transport } from '../../../packages/webhook-notification/src/nest/transport';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { describeWithRedis } from '../../support/stores';
import { waitFor } from '../../support/wait-for';

const MINUTE_MS = 60_000;

describeWithRedis("The library's jobs", (redisUrl) => {
  let database: TestDatabase;
  let pool: Pool;
  let redis: Redis;
  let transport: Transport;

  beforeAll(async () => {
    database = await cloneDatabase();
    pool = new Pool({ connectionString: database.url, max: 1 });
    redis = new Redis(redisUrl()!);
    transport = databaseTransport({ connection: pool, redisUrl: redisUrl() });
    await transport.start('shop', []);
  });
  afterAll(async () => {
    await transport.stop();
    redis.disconnect();
    await pool.end();
    await database.drop();
  });
  afterEach(() => jest.restoreAllMocks());

  const publish = () => transport.write([{ name: 'job.started', userId: null, data: '{}' }]);
  const jobsIn = (prefix: string) => redis.llen(`${prefix}:{fan-out}:wait`);
  const aMinuteLater = (minutes: number) => {
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + minutes * MINUTE_MS);
  };

  it('are in the queue of a service that stores no prefix yet', async () => {
    await database.query('alter table webhook_service.installation rename to later');
    await publish();
    await waitFor(async () => (await jobsIn('bull')) === 1, { what: 'a job' });
  });

  it('are in the queue of the installation within a minute after the service stores it', async () => {
    await database.query('alter table webhook_service.later rename to installation');
    aMinuteLater(1);
    await publish();
    const [row] = await database.query<{ id: string }>('select id from webhook_service.installation');
    await waitFor(async () => (await jobsIn(`webhooks-${row!.id}`)) === 1, { what: 'a job' });
  });

  it('are in the queue with the name of QUEUE_PREFIX, which the service has stored', async () => {
    await database.query(`update webhook_service.installation set queue_prefix = 'billing'`);
    await publish();
    aMinuteLater(2);
    await publish();
    await waitFor(async () => (await jobsIn('billing')) === 1, { what: 'a job' });
    expect(await jobsIn('bull')).toBe(1);
  });
});
