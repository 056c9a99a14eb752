import type { Cluster } from 'ioredis';
import { sendQueueNames } from '../../../../src/deliveries/send-queue-names';
import { FAN_OUT_QUEUE } from '../../../../src/events/fan-out.queue';
import { openRedis } from '../../../../src/infrastructure/queue/redis.client';
import { RedisMemoryClient } from '../../../../src/infrastructure/queue/redis-memory.client';
import { describeWithCluster } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';

const QUEUES = [FAN_OUT_QUEUE, ...sendQueueNames('redis://a,redis://b')];

describeWithCluster('A Redis cluster of three nodes', (cluster) => {
  it('reports the data loss of any node once to every process', async () => {
    const memories = [0, 1].map(() => new RedisMemoryClient({ redisUrl: cluster().url } as never));
    const ask = () => Promise.all(memories.map((memory) => memory.lost(QUEUES)));
    const lostQueues: string[][] = [[], []];
    // A query that times out is repeated, as in the next sweep.
    const isSeen = async () => {
      const lost = await ask();
      lost.forEach((queues, i) => lostQueues[i]!.push(...queues));
      return lost.every((queues) => queues.length === 0) && lostQueues[0]!.length === lostQueues[1]!.length;
    };
    try {
      await waitFor(async () => (await ask()).every((queues) => queues.length === 0), { what: 'a first answer' });
      for (const node of cluster().nodes) {
        const before = lostQueues[0]!.length;
        await node.run('FLUSHALL');
        await waitFor(async () => (await isSeen()) && lostQueues[0]!.length > before, { what: 'the data loss' });
        expect(await ask()).toEqual([[], []]);
      }
      // Each node loses its own queues, and no others.
      for (const queues of lostQueues) expect(queues.sort()).toEqual([...QUEUES].sort());
    } finally {
      for (const memory of memories) memory.onApplicationShutdown();
    }
  });

  it('can be checked while a node is down, and reports the data loss of that node when it is back', async () => {
    const memory = new RedisMemoryClient({ redisUrl: cluster().url } as never);
    const [node] = cluster().nodes;
    try {
      await waitFor(() => memory.lost(QUEUES).then(() => true), { what: 'a first answer' });
      await node!.kill();
      expect(await memory.lost(QUEUES)).toEqual([]);
      await node!.start();
      const lostQueues: string[] = [];
      // While it starts, it may respond for one queue and not yet for another.
      const isSeen = async () => {
        const lost = await memory.lost(QUEUES);
        lostQueues.push(...lost);
        return lost.length === 0 && lostQueues.length > 0;
      };
      await waitFor(isSeen, { what: 'the data loss' });
      expect(new Set(lostQueues).size).toBe(lostQueues.length);
    } finally {
      memory.onApplicationShutdown();
      await node!.start();
      await cluster().works();
    }
  });

  it('that is down delays no client, and is used when it works again', async () => {
    const { nodes, url, works } = cluster();
    const restore = () => nodes[0]!.run('CLUSTER', 'ADDSLOTS', 0);
    for (const node of nodes) await node.run('CLUSTER', 'DELSLOTS', 0);
    const client = openRedis(url, { lazyConnect: true, retryStrategy: () => 100 }) as Cluster;
    try {
      await expect(client.connect()).rejects.toThrow('not ready');
      await restore();
      await works();
      expect(await client.set('{send-0}', 'here')).toBe('OK');
      const copy = client.duplicate();
      expect(await copy.get('{send-0}')).toBe('here');
      expect(copy.constructor).toBe(client.constructor);
      copy.disconnect();
    } finally {
      client.disconnect();
      await restore().catch(() => undefined);
    }
  });
});
