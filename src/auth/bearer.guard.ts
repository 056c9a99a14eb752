import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error';
import { messageFor, MESSAGES } from '../errors/catalogue';
import { isApiRoute } from '../http/envelope.interceptor';
import type { Principal } from './access-token';
import type { Scope } from './scope';
import { SCOPES_KEY } from './scopes.decorator';

export type AuthenticatedRequest = FastifyRequest & { user: Principal };

/** Everything under `/api` needs a live token with the scopes that its route names in `@Scopes()`. */
@Injectable()
export class BearerGuard extends AuthGuard('bearer') {
  constructor(private readonly reflector: Reflector) {
    super({ session: false });
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    if (!isApiRoute(context.switchToHttp().getRequest<FastifyRequest>())) return true;
    await super.canActivate(context);
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const needed = this.reflector.getAllAndOverride<Scope[]>(SCOPES_KEY, [context.getHandler(), context.getClass()]);
    const missing = needed.find((scope) => !request.user.scopes.includes(scope));
    if (missing) throw new ApiError(403, messageFor.missingScope(missing));
    return true;
  }

  /** The strategy would also read `access_token` out of query and body, and the first of two headers: it sees neither. */
  override getRequest(context: ExecutionContext): { headers: { authorization?: string } } {
    const { raw } = context.switchToHttp().getRequest<FastifyRequest>();
    const given = raw.headersDistinct.authorization ?? [];
    return { headers: given.length === 1 ? { authorization: given[0] } : {} };
  }

  override handleRequest<User = Principal>(
    error: unknown,
    user: User | false,
    _info: unknown,
    context: ExecutionContext,
  ): User {
    if (error) throw error as Error;
    if (!user) {
      void context.switchToHttp().getResponse<FastifyReply>().header('www-authenticate', 'Bearer realm="api"');
      throw new ApiError(401, MESSAGES.unauthenticated);
    }
    Object.assign(context.switchToHttp().getRequest<FastifyRequest>(), { user });
    return user;
  }
}
