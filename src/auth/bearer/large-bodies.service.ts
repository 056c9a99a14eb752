import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { KeyedMutex } from '../../infrastructure/concurrency/keyed-mutex';
import { ApiError, messageFor } from '../../infrastructure/errors/api-error';
import type { LargeBodyRule } from '../route.decorator';
import { RateLimitsService } from '../limits/rate-limits.service';
import { missingScope } from '../access-token';
import { AuthenticationService } from './authentication.service';

/**
 * Checks the token, rate limits and scope of a request with a large body before the body is read, because guards run
 * only afterwards. Counts the request as one; the rest of its weight is counted once it is known. Processes one such
 * request per user at a time.
 */
@Injectable()
export class LargeBodiesService implements OnModuleInit {
  private readonly mutex = new KeyedMutex(1);

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly authentication: AuthenticationService,
    private readonly limits: RateLimitsService,
  ) {}

  onModuleInit(): void {
    // Commands and publish-only applications have no server.
    const server = this.host.httpAdapter?.getInstance<FastifyInstance>();
    server?.addHook?.('preParsing', async (request, reply) => this.check(request, reply));
  }

  private async check(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { scope, limits = [] } = request.routeOptions.config as LargeBodyRule;
    if (!scope) return;
    const principal = await this.authentication.authenticateRequest(request);
    const end = await this.mutex.acquire(principal.userId);
    if (reply.raw.destroyed) return end();
    reply.raw.once('close', end);
    for (const limit of limits) reply.headers(this.limits.count(limit, principal.userId));
    const missing = missingScope([scope], principal.scopes);
    if (missing) throw new ApiError('scope_missing', messageFor.missingScope(missing));
  }
}
