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

// Nodes are killed, and the cluster takes seconds to notice and to recover.

const idsOf = (hook: Hook) => new Set(hook.calls.map(({ headers }) => String(headers['webhook-id'])));

/** The keys of our queues that lie on a node, by the name of the queue. */
async function queuesWith(node: ClusterNode, key: string): Promise<string[]> {
  const keys = (await node.run('KEYS', `bull:{send-*}:${key}`)) as string[];
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
          // Time enough to empty a node while every retry waits.
          RETRY_BASE_DELAY_MS: '8000',
          RETRY_JITTER: '0',
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
      await waitFor(async () => (await queuesWith(node!, 'delayed')).length === 2, { what: 'retries on the node' });
      await node!.run('FLUSHALL');
      const retried = () => new Set(hook.calls.slice(60).map(({ headers }) => headers['webhook-id']));
      await waitFor(() => retried().size === 60, { what: 'all retries', timeoutMs: 60_000 });
      expect(retried()).toEqual(new Set(ids));
      // Nobody would have missed them before ten seconds after they were due.
      const { rows } = await pageOf(service.api.listDeliveries(webhook.id, { limit: 250 }));
      const dueAt = new Map(rows.map(({ id, scheduledAt }) => [id, Date.parse(scheduledAt)]));
      const late = hook.calls.map(
        ({ headers, receivedAt }) => receivedAt - dueAt.get(String(headers['x-service-delivery']))!,
      );
      expect(Math.max(...late.slice(60))).toBeLessThan(10_000);
    });

    it.each([
      ['that holds the fan-out', 2],
      ['that holds send queues alone', 0],
    ])('accepts while a node %s is killed, and has delivered everything soon after its return', async (_, which) => {
      const hook = receiver.hook();
      await subscribe(service.api, hook, ['job.started']);
      const node = cluster().nodes[which]!;
      const accepted: string[] = [];
      const publishFor = async (ms: number) => {
        for (const end = Date.now() + ms; Date.now() < end;) {
          accepted.push((await publish(service.api, 'job.started')).id);
        }
      };
      await publishFor(300);
      const stream = publishFor(4500);
      await node.kill();
      await waitFor(async () => !(await cluster().nodes[1]!.works()), { what: 'a cluster that is down' });
      await node.start();
      await stream;
      await cluster().works();
      await waitFor(() => idsOf(hook).size === accepted.length, { what: 'every event', timeoutMs: 100_000 });
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
