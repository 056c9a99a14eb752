import { Redis } from 'ioredis';
import { cloneDatabase } from '../../support/postgres';
import { useReceiver } from '../../support/receiver';
import { type Service, startService } from '../../support/service';
import { describeWithRedis } from '../../support/stores';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

describeWithRedis('Two installations on one Redis', (url) => {
  const receiver = useReceiver();

  /** The prefixes of the keys of all fan-out queues. */
  async function prefixes(): Promise<string[]> {
    const redis = new Redis(url()!);
    const keys = await redis.keys('*:{fan-out}:*');
    redis.disconnect();
    return [...new Set(keys.map((key) => key.slice(0, key.indexOf(':'))))].sort();
  }
  const idOf = async ({ database }: Service) =>
    (await database.query<{ id: string }>('select id from webhook_service.installation'))[0]!.id;
  const storedBy = async ({ database }: Service) =>
    (await database.query<{ prefix: string }>('select queue_prefix as prefix from webhook_service.installation'))[0]!
      .prefix;

  it('use separate queues, and each delivers its own events', async () => {
    const databases = [await cloneDatabase(), await cloneDatabase()];
    // These are copies of one database.
    for (const each of databases) await each.query('update webhook_service.installation set id = gen_random_uuid()');
    const services = await Promise.all(databases.map((each) => startService({ REDIS_URL: url() }, each)));
    try {
      for (const service of services) {
        const hook = receiver.hook({ status: 500 }, { status: 200 });
        const webhook = await subscribe(service.api, hook, ['job.started']);
        const events = await Promise.all(Array.from({ length: 20 }, () => publish(service.api, 'job.started')));
        for (const event of events) await settledDeliveries(service.api, webhook, event);
        expect(hook.calls.length).toBeGreaterThan(20);
      }
      const own = await Promise.all(services.map(async (service) => `webhooks-${await idOf(service)}`));
      expect(await prefixes()).toEqual(own.sort());
      expect((await Promise.all(services.map(storedBy))).sort()).toEqual(own);
    } finally {
      for (const service of services) await service.stop();
      for (const each of databases) await each.drop();
    }
  });

  it('can have names that the operator chooses, and a change of them is told and loses nothing', async () => {
    const named = (QUEUE_PREFIX: string) => ({ REDIS_URL: url(), QUEUE_PREFIX });
    // An hour: the job of the retry stays on the queue with the first name.
    const slow = { RETRY_BASE_DELAY_MS: '3600000', RETRY_JITTER: '0' };
    const database = await cloneDatabase();
    const before = await startService({ ...named('first'), ...slow }, database);
    const hook = receiver.hook({ status: 500 }, { status: 200 });
    const webhook = await subscribe(before.api, hook, ['job.started']);
    const event = await publish(before.api, 'job.started');
    await hook.received(1);
    await before.stop();
    await database.query(
      `update webhook_service.deliveries set scheduled_at = now(), leased_until = now() where status = 'pending'`,
    );
    const after = await startService(named('second'), database);
    try {
      expect((await settledDeliveries(after.api, webhook, event)).map(({ status }) => status)).toEqual([
        'failed',
        'succeeded',
      ]);
      expect(after.logs()).toContain('The queues are now named second:*, and were named first:*.');
      expect(await prefixes()).toEqual(expect.arrayContaining(['first', 'second']));
      expect(await storedBy(after)).toBe('second');
    } finally {
      await after.stop();
      await database.drop();
    }
  });
});
