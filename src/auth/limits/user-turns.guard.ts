import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import { Config } from '../../plumbing/config/config';
import { Turns } from '../../plumbing/database/turns';
import type { Principal } from '../access-token';
import { WAITS_WITH_KEY } from '../waiting.decorator';
import { RATE_RULE_KEY } from '../rate-limit.decorator';

/**
 * Keeps one user from holding all connections to PostgreSQL: of the requests of a user, as many are handled at once as a
 * third of the pool; the others wait here, without a connection. A request may hold one for long, while it waits for a
 * lock or reads a long log. Routes with a rate rule of their own are left out: publishing is written in batches, a test
 * waits for its receiver, and a large body has turns of its own. So are requests that wait for changes: they hold nothing.
 */
@Injectable()
export class UserTurnsGuard implements CanActivate {
  private readonly turns: Turns;

  constructor(
    private readonly reflector: Reflector,
    { databasePoolSize }: Config,
  ) {
    this.turns = new Turns(Math.max(1, Math.floor(databasePoolSize / 3)));
  }

  canActivate(context: ExecutionContext): true | Promise<true> {
    const { user, query } = context.switchToHttp().getRequest<{ user?: Principal; query: object }>();
    if (!user || this.reflector.get<unknown>(RATE_RULE_KEY, context.getHandler())) return true;
    const waitsWith = this.reflector.get<string | undefined>(WAITS_WITH_KEY, context.getHandler());
    if (waitsWith !== undefined && Object.hasOwn(query, waitsWith)) return true;
    return this.take(user, context.switchToHttp().getResponse<FastifyReply>());
  }

  private async take({ userId }: Principal, { raw }: FastifyReply): Promise<true> {
    const end = await this.turns.take(userId);
    if (raw.destroyed) end();
    else raw.once('close', end);
    return true;
  }
}
