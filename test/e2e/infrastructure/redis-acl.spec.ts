import { readFileSync } from 'node:fs';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { useReceiver } from '../../support/receiver';
import { startService } from '../../support/service';
import { describeWithCluster, describeWithRedis } from '../../support/stores';
import { publish, settledDeliveries, subscribe } from '../stage/steps';

const [USER, PASSWORD] = ['webhooks', 'password'];

/** The rights in docs/settings.md. */
const RIGHTS = (/redis-cli ACL SETUSER webhooks ([^`]+)`/.exec(readFileSync('docs/settings.md', 'utf8'))?.[1] ?? '')
  .replaceAll(/['\\]/g, '')
  .split(/\s+/)
  .filter((right) => right !== '');

describeWithRedis('With a user of its own', (url) => {
  const receiver = useReceiver();

  it('the service is denied nothing, and reads a monitored queue', async () => {
    const admin = new Redis(url()!);
    await admin.call('ACL', 'SETUSER', USER, ...RIGHTS, '%R~bull:reports:*');
    const service = await startService({ REDIS_URL: asUser(url()!), MONITORED_QUEUES: 'reports' });
    const connection = { url: url()!, maxRetriesPerRequest: null };
    const queue = new Queue('reports', { connection });
    const worker = new Worker('reports', () => Promise.resolve(), { connection });
    try {
      const hook = receiver.hook({ status: 500 }, { status: 200 });
      const webhook = await subscribe(service.api, hook, ['job.started', 'job.completed']);
      const event = await publish(service.api, 'job.started');
      await settledDeliveries(service.api, webhook, event);
      await queue.add('export', {});
      await hook.received(4);
      expect(await service.stop()).toBe(0);
      expect(await admin.call('ACL', 'LOG')).toEqual([]);
      expect(await admin.keys('webhooks-*:{*')).not.toEqual([]);
      expect(service.logs()).not.toContain('NOPERM');
    } finally {
      await worker.close(true);
      await queue.close();
      admin.disconnect();
    }
  });

  it('that user reads no other keys', async () => {
    const user = new Redis(asUser(url()!));
    await expect(user.get('bull:other:meta')).rejects.toThrow('NOPERM');
    await expect(user.flushall()).rejects.toThrow('NOPERM');
    user.disconnect();
  });
});

describeWithCluster('With a user of its own', (cluster) => {
  const receiver = useReceiver();

  it('the service is denied nothing', async () => {
    for (const node of cluster().nodes) await node.run('ACL', 'SETUSER', USER, ...RIGHTS);
    const service = await startService({ REDIS_URL: cluster().url.split(',').map(asUser).join(',') });
    const hook = receiver.hook({ status: 500 }, { status: 200 });
    const webhook = await subscribe(service.api, hook, ['job.started']);
    await settledDeliveries(service.api, webhook, await publish(service.api, 'job.started'));
    expect(await service.stop()).toBe(0);
    for (const node of cluster().nodes) expect(await node.run('ACL', 'LOG')).toEqual([]);
  });
});

const asUser = (url: string) => Object.assign(new URL(url), { username: USER, password: PASSWORD }).href;
