import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { finalize, type Observable } from 'rxjs';
import { Config } from '../../plumbing/config/config';
import { Turns } from '../../plumbing/database/turns';
import type { Principal } from '../access-token';
import { RATE_RULE_KEY } from '../rate-limit.decorator';

/**
 * Keeps one user from holding all connections to PostgreSQL: of the requests of a user, as many are handled at once as a
 * third of the pool; the others wait here, without a connection. A request may hold one for long, while it waits for a
 * lock or reads a long log. Routes with a rate rule of their own are left out: publishing is written in batches, a test
 * waits for its receiver, and a large body has turns of its own.
 */
@Injectable()
export class UserTurnsInterceptor implements NestInterceptor {
  private readonly turns: Turns;

  constructor(
    private readonly reflector: Reflector,
    { databasePoolSize }: Config,
  ) {
    this.turns = new Turns(Math.max(1, Math.floor(databasePoolSize / 3)));
  }

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const { user } = context.switchToHttp().getRequest<{ user?: Principal }>();
    if (!user || this.reflector.get<unknown>(RATE_RULE_KEY, context.getHandler())) return next.handle();
    const end = await this.turns.take(user.userId);
    return next.handle().pipe(finalize(end));
  }
}
