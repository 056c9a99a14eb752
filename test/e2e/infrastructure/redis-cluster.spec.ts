import { Queue, Worker } from 'bullmq';
import { Cluster } from 'ioredis';
import { dataOf, pageOf } from '../../support/api';
import { scrape } from '../stage/metrics';
import { type Hook, useReceiver } from '../../support/receiver';
import type { ClusterNode, TestCluster } from '../../support/redis-cluster';
import { freePort, startService, type Service } from '../../support/service';
import { describeWithCluster } from '../../support/stores';
import { waitFor } from '../../support/wait-for';
import { deleteWebhooks, publish, subscribe } from '../stage/steps';
import { EXAMPLES } from '../stage/examples';

const SEND_QUEUES = [0, 1, 2, 3, 4, 5].map((i) => `send-${i}`);
const OTHERS_QUEUE = '{reports}';
const WAITING = { status: 'pending', limit: 250 };

// Nodes are killed, and the cluster takes seconds to notice and to recover.

const idsOf = (hook: Hook) => new Set(hook.calls.map(({ headers }) => String(headers['webhook-id'])));

/** The keys of our queues that lie on a node, by the name of the queue. */
async function queuesWith(node: ClusterNode, key: string): Promise<string[]> {
  const keys = (await node.run('KEYS', `*:{send-*}:${key}`)) as string[];
  return keys.map((name) => /\{(.+)\}/.exec(name)?.[1] ?? '');
}

describeWithCluster('The service', (cluster) => {
  const receiver = useReceiver();
  const settings = (more = {}) => ({ REDIS_URL: cluster().url, ...more });

  describe('that runs', () => {
    let service: Service;
    let metricsPort: number;
    beforeAll(async () => {
      metricsPort = await freePort();
      service = await startService(
        settings({
          METRICS_PORT: String(metricsPort),
          MONITORED_QUEUES: OTHERS_QUEUE,
          // An hour, which is over when a test says so.
          RETRY_BASE_DELAY_MS: '3600000',
        }),
      );
    });
    afterAll(async () => expect(await service.stop()).toBe(0));
    beforeEach(() => deleteWebhooks(service.api));

    async function publishMany(count: number): Promise<string[]> {
      const events = Array.from({ length: count }, () => ({ event: 'job.started', data: EXAMPLES['job.started'] }));
      const published = await dataOf(service.api.publishBatch({ events }), 202);
      return published.map(({ id }) => id);
    }

    it('attempts each event, and spreads the retries over all send queues and all nodes', async () => {
      const hook = receiver.hook({ status: 500 });
      await subscribe(service.api, hook, ['job.started']);
      const ids = await publishMany(100);
      await hook.received(100);
      expect(idsOf(hook)).toEqual(new Set(ids));
      const used = () => Promise.all(cluster().nodes.map((node) => queuesWith(node, 'events')));
      const all = async () => (await used()).flat().length === SEND_QUEUES.length;
      await waitFor(all, { what: 'a retry on each queue' });
      const lying = await used();
      expect(lying.flat().sort()).toEqual(SEND_QUEUES);
      expect(lying.map(({ length }) => length)).toEqual([2, 2, 2]);
    });

    it('shows how deep each queue is', async () => {
      const { values } = await scrape(metricsPort);
      for (const queue of ['fan-out', ...SEND_QUEUES]) {
        expect(values.has(`webhooks_queue_jobs{queue="${queue}",state="waiting"}`)).toBe(true);
      }
    });

    it('loses nothing when one node is emptied, and sends what is due in time', async () => {
      const hook = receiver.hook({ status: 503 });
      const webhook = await subscribe(service.api, hook, ['job.started']);
      const ids = await publishMany(60);
      await hook.received(60);
      hook.answer({ status: 200 });
      const [node] = cluster().nodes;
      const pending = async () => (await pageOf(service.api.listDeliveries(webhook.id, WAITING))).rows;
      await waitFor(async () => (await pending()).length === 60, { what: 'a retry of each event' });
      const all = new Set((await pending()).map(({ id }) => id));
      /** The retries whose jobs are on the node. */
      const onNode = async () => {
        const jobs = (await node!.run('KEYS', '*:{send-*}:*')) as string[];
        return jobs
          .map((key) => key.slice(key.lastIndexOf(':') + 1))
          .filter((id) => all.has(id))
          .sort();
      };
      const count = async () => {
        const found = await Promise.all(
          cluster().nodes.map(async (each) => (await each.run('KEYS', '*:{send-*}:*')) as string[]),
        );
        return found.flat().filter((key) => all.has(key.slice(key.lastIndexOf(':') + 1))).length;
      };
      await waitFor(async () => (await count()) === 60, { what: 'the jobs of the retries' });
      const lost = await onNode();
      expect(lost.length).toBeGreaterThan(0);
      const { database } = service;
      await node!.run('FLUSHALL');
      const DUE = `
        update webhook_service.deliveries set scheduled_at = now(), leased_until = now() + (leased_until - scheduled_at)
        where id = any($1::uuid[])`;
      await database.query(DUE, [lost]);
      for (const id of all) if (!lost.includes(id)) await dataOf(service.api.redeliver(webhook.id, id));
      const retried = () => new Set(hook.calls.slice(60).map(({ headers }) => headers['webhook-id']));
      await waitFor(() => retried().size === 60, { what: 'all retries' });
      expect(retried()).toEqual(new Set(ids));
    });

    it.each([
      ['that holds the fan-out', 2],
      ['that holds send queues alone', 0],
    ])('accepts while a node %s is killed, and has delivered everything soon after its return', async (_, which) => {
      const hook = receiver.hook();
      await subscribe(service.api, hook, ['job.started']);
      const node = cluster().nodes[which]!;
      const accepted: string[] = [];
      let isBack = false;
      const stream = (async () => {
        while (!isBack) accepted.push((await publish(service.api, 'job.started')).id);
      })();
      try {
        await waitFor(() => accepted.length > 5, { what: 'the first events' });
        await node.kill();
        await waitFor(async () => !(await cluster().nodes[1]!.works()), { what: 'a cluster that is down' });
        await node.start();
      } finally {
        isBack = true;
        await stream;
      }
      await cluster().works();
      await waitFor(() => idsOf(hook).size === accepted.length, { what: 'every event' });
      expect(idsOf(hook)).toEqual(new Set(accepted));
    });

    it("tells of the jobs of somebody's queue there", async () => {
      const hook = receiver.hook();
      await subscribe(service.api, hook, ['job.completed']);
      const connection = clientOf(cluster());
      const queue = new Queue(OTHERS_QUEUE, { connection });
      const worker = new Worker(OTHERS_QUEUE, () => Promise.resolve({ rows: 7 }), { connection });
      for (const one of [queue, worker]) (one as Queue).on('error', () => undefined);
      try {
        await queue.add('export', {});
        const [call] = await hook.received(1);
        expect(JSON.parse(call!.body.toString())).toMatchObject({
          event: 'job.completed',
          data: { queue: OTHERS_QUEUE, name: 'export', result: { rows: 7 } },
        });
      } finally {
        await worker.close(true);
        await queue.close();
        connection.disconnect();
      }
    });
  });

  it('ends with 0 when it is told to, although a node is gone', async () => {
    const service = await startService(settings());
    const [node] = cluster().nodes;
    try {
      await node!.kill();
      expect(await service.stop()).toBe(0);
    } finally {
      await node!.start();
      await cluster().works();
    }
  });
});

function clientOf({ nodes, password }: TestCluster): Cluster {
  const client = new Cluster(
    nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
    { redisOptions: { password, maxRetriesPerRequest: null } },
  );
  return client.on('error', () => undefined);
}
