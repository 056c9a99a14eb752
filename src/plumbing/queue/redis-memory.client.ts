import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config';
import { surviving } from './queue-connections.client';
import { connected, openRedis, type RedisClient } from './redis.client';

const SILENCE_MS = 3000;
const KEY = 'webhook-notification-service:memory';

/**
 * Knows whether Redis still remembers: a key of ours lies there, and when it is gone or another, Redis has been emptied. On a
 * cluster there is one beside each queue, because its nodes forget one by one. Without Redis the queue remembers as long as
 * our own rows do.
 */
@Injectable()
export class RedisMemoryClient implements OnApplicationShutdown {
  private readonly redis: RedisClient | null;
  private readonly known = new Map<string, string>();

  constructor(config: Config) {
    this.redis =
      config.redisUrl === null
        ? null
        : openRedis(config.redisUrl, {
            lazyConnect: true,
            enableOfflineQueue: false,
            maxRetriesPerRequest: 1,
            commandTimeout: 500,
            ...surviving(SILENCE_MS),
          });
    // Its state is asked for at every sweep; the queues report what is wrong with Redis.
    this.redis?.on('error', () => undefined);
  }

  onApplicationShutdown(): void {
    this.redis?.disconnect();
  }

  /**
   * Those of the queues that Redis has forgotten: each once after every loss, and at the first call when nobody has left a
   * key there. Throws while Redis is away, of a cluster only when no node of a queue answers.
   */
  async lost(queues: readonly string[]): Promise<string[]> {
    if (!this.redis) return [];
    const redis = await connected(this.redis);
    if (!redis.isCluster) return (await this.isLost(redis, KEY)) ? [...queues] : [];
    const answers = await Promise.allSettled(queues.map((queue) => this.isLost(redis, `${KEY}:${queue}`)));
    const failures = answers.filter((answer) => answer.status === 'rejected');
    if (failures[0] && failures.length === queues.length) throw failures[0].reason;
    const isLost = answers.map((answer) => answer.status === 'fulfilled' && answer.value);
    return queues.filter((_, i) => isLost[i]);
  }

  private async isLost(redis: RedisClient, key: string): Promise<boolean> {
    const mark = randomUUID();
    // Sets the mark only where there is none, and answers the one that was there.
    const found = await redis.set(key, mark, 'NX', 'GET');
    const known = this.known.get(key);
    this.known.set(key, found ?? mark);
    return found === null || (known !== undefined && found !== known);
  }
}
