import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import { Config } from '../../infrastructure/config/config';
import { KeyedMutex } from '../../infrastructure/concurrency/keyed-mutex';
import type { Principal } from '../access-token';
import { RATE_RULE_KEY, WAITS_WITH_KEY } from '../rate-limit.decorator';

/**
 * Keeps one user from holding all connections to PostgreSQL. Each user may hold at most a third of the pool; further
 * requests wait without a connection. A request may hold one for long, while it waits for a lock or reads a long log.
 * Routes with a rate rule of their own are exempt: publishing is written in batches, a test waits for its receiver, and
 * large bodies have their own mutex. So are requests that wait for changes, which hold no connection.
 */
@Injectable()
export class UserConcurrencyGuard implements CanActivate {
  private readonly mutex: KeyedMutex;

  constructor(
    private readonly reflector: Reflector,
    { databasePoolSize }: Config,
  ) {
    this.mutex = new KeyedMutex(Math.max(1, Math.floor(databasePoolSize / 3)));
  }

  canActivate(context: ExecutionContext): true | Promise<true> {
    const { user, query } = context.switchToHttp().getRequest<{ user?: Principal; query: object }>();
    if (!user || this.reflector.get<unknown>(RATE_RULE_KEY, context.getHandler())) return true;
    const waitsWith = this.reflector.get<string | undefined>(WAITS_WITH_KEY, context.getHandler());
    if (waitsWith !== undefined && Object.hasOwn(query, waitsWith)) return true;
    return this.take(user, context.switchToHttp().getResponse<FastifyReply>());
  }

  private async take({ userId }: Principal, { raw }: FastifyReply): Promise<true> {
    const end = await this.mutex.acquire(userId);
    if (raw.destroyed) end();
    else raw.once('close', end);
    return true;
  }
}
