import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config';
import { KeyedMutex } from '../../infrastructure/concurrency/keyed-mutex';

/**
 * Keeps one user from holding all connections to PostgreSQL. The requests of a user hold at most a third of the pool; further
 * requests wait without a connection. A request may hold one for long, while it waits for a lock or reads a long log.
 */
@Injectable()
export class UserSharesService {
  private readonly mutex: KeyedMutex;

  constructor({ databasePoolSize }: Config) {
    this.mutex = new KeyedMutex(Math.max(1, Math.floor(databasePoolSize / 3)));
  }

  /** Waits for a share of the user. The returned function gives it back. */
  acquire(userId: string): Promise<() => void> {
    return this.mutex.acquire(userId);
  }

  async during<Result>(userId: string, action: () => Promise<Result>): Promise<Result> {
    const end = await this.acquire(userId);
    try {
      return await action();
    } finally {
      end();
    }
  }
}
