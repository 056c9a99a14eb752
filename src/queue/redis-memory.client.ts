import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Redis } from 'ioredis';
import { Config } from '../config/config';
import { surviving } from './connections.client';

const SILENCE_MS = 3000;
const KEY = 'webhook-notification-service:memory';

/**
 * Knows whether Redis still remembers: a key of ours lies there, and when it is gone or another, Redis has been emptied.
 * Without Redis the queue remembers as long as our own rows do.
 */
@Injectable()
export class RedisMemoryClient implements OnApplicationShutdown {
  private readonly redis: Redis | null;
  private known: string | null = null;

  constructor(config: Config) {
    this.redis =
      config.redisUrl === null
        ? null
        : new Redis(config.redisUrl, {
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

  /** True once after every loss, and at the first call when nobody has left the key there. Throws while Redis is away. */
  async wasLost(): Promise<boolean> {
    if (!this.redis) return false;
    if (this.redis.status === 'wait') await this.redis.connect();
    const mark = randomUUID();
    // Sets the mark only where there is none, and answers the one that was there.
    const found = await this.redis.set(KEY, mark, 'NX', 'GET');
    const lost = found === null || (this.known !== null && found !== this.known);
    this.known = found ?? mark;
    return lost;
  }
}
