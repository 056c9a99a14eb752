import { Redis } from 'ioredis';
import { useReceiver } from '../../support/receiver';
import { cloneDatabase, type TestDatabase } from '../../support/postgres';
import { type Service, type Settings, startService } from '../../support/service';
import { describeWithRedis } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { publish, subscribe } from '../stage/steps';

const EVENTS = 100;
/** Ten times what they take. */
const PROMPTLY_MS = 20_000;

describeWithRedis('Installations that share a Redis', (redisUrl) => {
  const receiver = useReceiver();
  let redis: Redis;
  const running: { service: Service; database: TestDatabase }[] = [];

  async function install(settings: Settings = {}): Promise<Service> {
    const database = await cloneDatabase();
    // A copy of a database is an installation of its own only with an id of its own.
    await database.query('update webhook_service.installation set id = gen_random_uuid()');
    const service = await startService({ REDIS_URL: redisUrl(), ...settings }, database);
    running.push({ service, database });
    return service;
  }

  beforeAll(() => {
    redis = new Redis(redisUrl()!);
  });
  afterEach(async () => {
    for (const { service, database } of running.splice(0)) {
      expect(await service.stop()).toBe(0);
      await database.drop();
    }
  });
  afterAll(() => redis.disconnect());

  const prefixOf = async ({ database }: Service) => {
    const [row] = await database.query<{ prefix: string }>(
      'select queue_prefix as prefix from webhook_service.installation',
    );
    return row!.prefix;
  };

  it('deliver their own events promptly, and take no job of each other', async () => {
    const services = await Promise.all([install(), install()]);
    const hooks = services.map(() => receiver.hook());
    await Promise.all(services.map(({ api }, i) => subscribe(api, hooks[i]!, ['job.started'])));
    const published = await Promise.all(
      services.map(({ api }) => Promise.all(Array.from({ length: EVENTS }, () => publish(api, 'job.started')))),
    );
    const idsOf = (i: number) => new Set(hooks[i]!.calls.map(({ headers }) => headers['webhook-id']));
    const isComplete = () => published.every((events, i) => events.every(({ id }) => idsOf(i).has(id)));
    await waitFor(isComplete, { what: 'every event', timeoutMs: PROMPTLY_MS });
    expect(hooks.map(({ calls }) => calls.length)).toEqual([EVENTS, EVENTS]);
    // A row whose job another installation had taken would be enqueued again.
    expect(services.map((service) => service.logs().includes('"msg":"swept"'))).toEqual([false, false]);
    const prefixes = await Promise.all(services.map(prefixOf));
    expect(new Set(prefixes).size).toBe(2);
    const keys = await redis.keys('*');
    expect(new Set(keys.map((key) => key.slice(0, key.indexOf(':'))))).toEqual(new Set(prefixes));
  });

  it('have the names of QUEUE_PREFIX, and log a warning when it is another than before', async () => {
    const service = await install({ QUEUE_PREFIX: 'billing' });
    const hook = receiver.hook();
    await subscribe(service.api, hook, ['job.started']);
    await publish(service.api, 'job.started');
    await hook.received(1);
    expect(await prefixOf(service)).toBe('billing');
    expect(await redis.keys('billing:{send-0}:*')).not.toEqual([]);
    expect(service.logs()).not.toContain('QUEUE_PREFIX');
    const other = await startService({ REDIS_URL: redisUrl(), QUEUE_PREFIX: 'sales' }, service.database);
    expect(await other.stop()).toBe(0);
    expect(other.logs()).toContain('The queues are now named sales:*, and were named billing:*.');
    expect(await prefixOf(service)).toBe('sales');
  });
});
