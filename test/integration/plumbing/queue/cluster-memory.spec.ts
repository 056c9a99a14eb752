import type { Cluster } from 'ioredis';
import { ALL_SEND_QUEUES } from '../../../../src/deliveries/send-queue-names';
import { FAN_OUT_QUEUE } from '../../../../src/events/fan-out.queue';
import { openRedis } from '../../../../src/plumbing/queue/redis.client';
import { RedisMemoryClient } from '../../../../src/plumbing/queue/redis-memory.client';
import { describeWithCluster } from '../../../support/stores';
import { waitFor } from '../../../support/wait-for';

const QUEUES = [FAN_OUT_QUEUE, ...ALL_SEND_QUEUES];

describeWithCluster('A cluster of three nodes', (cluster) => {
  it('is seen to be emptied, whichever node it is, once by every process', async () => {
    const memories = [0, 1].map(() => new RedisMemoryClient({ redisUrl: cluster().url } as never));
    const ask = () => Promise.all(memories.map((memory) => memory.lost(QUEUES)));
    const forgotten: string[][] = [[], []];
    // What is not answered in time is asked for again, as at the next sweep.
    const isSeen = async () => {
      const lost = await ask();
      lost.forEach((queues, i) => forgotten[i]!.push(...queues));
      return lost.every((queues) => queues.length === 0) && forgotten[0]!.length === forgotten[1]!.length;
    };
    try {
      await waitFor(async () => (await ask()).every((queues) => queues.length === 0), { what: 'a first answer' });
      for (const node of cluster().nodes) {
        const before = forgotten[0]!.length;
        await node.run('FLUSHALL');
        await waitFor(async () => (await isSeen()) && forgotten[0]!.length > before, { what: 'the loss' });
        expect(await ask()).toEqual([[], []]);
      }
      // Each node forgets its own queues, and no other.
      for (const queues of forgotten) expect(queues.sort()).toEqual([...QUEUES].sort());
    } finally {
      for (const memory of memories) memory.onApplicationShutdown();
    }
  });

  it('is still asked for its memory when a node is gone, and the loss of that one is seen when it is back', async () => {
    const memory = new RedisMemoryClient({ redisUrl: cluster().url } as never);
    const [node] = cluster().nodes;
    try {
      await waitFor(() => memory.lost(QUEUES).then(() => true), { what: 'a first answer' });
      await node!.kill();
      expect(await memory.lost(QUEUES)).toEqual([]);
      await node!.start();
      const forgotten: string[] = [];
      // While it comes back it may answer for one queue and not yet for another.
      const isSeen = async () => {
        const lost = await memory.lost(QUEUES);
        forgotten.push(...lost);
        return lost.length === 0 && forgotten.length > 0;
      };
      await waitFor(isSeen, { what: 'the loss' });
      expect(new Set(forgotten).size).toBe(forgotten.length);
    } finally {
      memory.onApplicationShutdown();
      await node!.start();
      await cluster().works();
    }
  });

  it('that is down does not keep anybody waiting, and is used when it works again', async () => {
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
