import type { Cluster } from 'ioredis';
import { openRedis } from '../../../../src/infrastructure/queue/redis.client';
import { describeWithCluster } from '../../../support/stores';

describeWithCluster('A Redis cluster of three nodes', (cluster) => {
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
