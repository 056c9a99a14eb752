import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../access-token';
import { HAS_OWN_SHARE_KEY, type HasOwnShare, type SharedRequest } from '../route.decorator';
import { UserSharesService } from './user-shares.service';

/** Gives each request a share of its user until it is answered. Requests exempted by `@HasOwnShare()` limit themselves. */
@Injectable()
export class UserConcurrencyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly shares: UserSharesService,
  ) {}

  canActivate(context: ExecutionContext): true | Promise<true> {
    const request = context.switchToHttp().getRequest<SharedRequest & { user?: Principal }>();
    const hasOwn = this.reflector.get<HasOwnShare | undefined>(HAS_OWN_SHARE_KEY, context.getHandler());
    if (!request.user || hasOwn?.(request)) return true;
    return this.take(request.user, context.switchToHttp().getResponse<FastifyReply>());
  }

  private async take({ userId }: Principal, { raw }: FastifyReply): Promise<true> {
    const end = await this.shares.acquire(userId);
    if (raw.destroyed) end();
    else raw.once('close', end);
    return true;
  }
}
