import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config';
import { surviving } from './queue-connections.client';
import { connected, openRedis, type RedisClient } from './redis.client';

const SILENCE_MS = 3000;
const KEY = 'webhook-notification-service:memory';

/**
 * Detects data loss in Redis. The service stores a key there; when it is missing or has changed, Redis was emptied. On
 * a cluster each queue has its own key, because each node can lose its data alone. Without Redis, the queue keeps its
 * jobs as safely as our own rows.
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
    // Every sweep queries the state of Redis, and the queues log its errors.
    this.redis?.on('error', () => undefined);
  }

  onApplicationShutdown(): void {
    this.redis?.disconnect();
  }

  /**
   * Returns the queues that Redis has lost: each once after every loss, and at the first call when no process has
   * stored a key. Throws while Redis is unavailable; on a cluster only when no node that has a queue responds.
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
    // Sets the mark only when there is none, and returns the existing one.
    const found = await redis.set(key, mark, 'NX', 'GET');
    const known = this.known.get(key);
    this.known.set(key, found ?? mark);
    return found === null || (known !== undefined && found !== known);
  }
}
