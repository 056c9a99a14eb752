import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config';
import { surviving } from './connections.client';
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
   * True once after every loss, and at the first call when nobody has left a key there. Throws while Redis is away, of a
   * cluster only when no node of a queue answers.
   */
  async wasLost(queues: readonly string[]): Promise<boolean> {
    if (!this.redis) return false;
    const redis = await connected(this.redis);
    const keys = redis.isCluster ? queues.map((queue) => `${KEY}:${queue}`) : [KEY];
    const answers = await Promise.allSettled(keys.map((key) => this.isLost(redis, key)));
    const found = answers.filter((answer) => answer.status === 'fulfilled');
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (found.length === 0 && failed) throw failed.reason;
    return found.some(({ value }) => value);
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
