import { Queue } from 'bullmq';
import { FanOutQueue } from '../../../../packages/webhook-notification/src/nest/fan-out.queue';
import { surviving } from '../../../../src/infrastructure/queue/queue-connections.client';
import { openRedis } from '../../../../src/infrastructure/queue/redis.client';
import { RedisQueueClient } from '../../../../src/sources/job-queues/redis-queue.client';
import { describeWithRedisPair } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';

const WITHIN_MS = 10_000;

describeWithRedisPair('After a failover that closes no connection', (pair) => {
  const soon = <T>(what: string, probe: () => Promise<T>) =>
    // eslint-disable-next-line no-restricted-syntax -- a promise
    waitFor(probe, { what, timeoutMs: WITHIN_MS });

  it.each([
    ['a command', (redis) => redis.set('key', 'value')],
    ['a transaction', (redis) => redis.multi().set('key', 'value').exec()],
    ['a pipeline', async (redis) => (await redis.pipeline().set('key', 'value').exec())?.[0]?.[0] === null],
    ['a script', (redis) => redis.eval("return redis.call('set', KEYS[1], 'value')", 1, 'key')],
  ] satisfies [string, (redis: ReturnType<typeof openRedis>) => Promise<unknown>][])(
    '%s writes to the new primary',
    async (_, write) => {
      const redis = openRedis(pair().url, surviving(3000));
      redis.on('error', () => undefined);
      try {
        await write(redis);
        await pair().failOver();
        await soon('a write', () => write(redis));
        expect(await pair().run('GET', 'key')).toBe('value');
      } finally {
        redis.disconnect();
        await pair().run('DEL', 'key');
      }
    },
  );

  it('a monitored queue is read from the new primary', async () => {
    const queue = new RedisQueueClient(pair().url, { prefix: null, name: 'reports' });
    try {
      const cursor = await queue.end();
      await queue.read(cursor);
      await pair().failOver();
      await pair().run('XADD', 'bull:reports:events', '*', 'event', 'added', 'jobId', '7', 'name', 'export');
      const { events } = await soon('the entry', async () => {
        const page = await queue.read(cursor);
        return page.events.length > 0 && page;
      });
      expect(events).toMatchObject([{ kind: 'added', jobId: '7' }]);
    } finally {
      queue.close();
    }
  });

  it('the library enqueues on the new primary', async () => {
    const queue = new FanOutQueue(pair().url, () => Promise.resolve('mine'));
    try {
      queue.enqueue([{ id: 'before', userId: null }], undefined);
      await soon('the first job', () => pair().run('EXISTS', 'mine:{fan-out}:1'));
      await pair().failOver();
      await soon('a job on the new primary', async () => {
        queue.enqueue([{ id: 'after', userId: null }], undefined);
        return pair().run('EXISTS', 'mine:{fan-out}:1');
      });
    } finally {
      await queue.close();
    }
  });

  it('a queue of BullMQ enqueues on the new primary', async () => {
    const connection = { url: pair().url, maxRetriesPerRequest: 1, enableOfflineQueue: false, ...surviving(3000) };
    const queue = new Queue('mail', { connection });
    queue.on('error', () => undefined);
    try {
      await queue.waitUntilReady();
      await pair().failOver();
      await soon('a job', () => queue.addBulk([1, 2].map((number) => ({ name: 'send', data: { number } }))));
      expect(await pair().run('LLEN', 'bull:mail:wait')).toBe(2);
    } finally {
      await queue.close();
    }
  });
});
