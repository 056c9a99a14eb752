import { RedisMemoryClient } from '../../../../src/infrastructure/queue/redis-memory.client';
import { freePort } from '../../../support/service';

it('The memory of Redis rejects within seconds while no Sentinel responds', async () => {
  const redisUrl = `redis+sentinel://127.0.0.1:${await freePort()}/main`;
  const memory = new RedisMemoryClient({ redisUrl } as never);
  try {
    await expect(memory.lost(['{send-0}'])).rejects.toThrow('Redis is not ready.');
    await expect(memory.lost(['{send-0}'])).rejects.toThrow();
  } finally {
    memory.onApplicationShutdown();
  }
}, 10_000);
