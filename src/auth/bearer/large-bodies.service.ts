import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Turns } from '../../plumbing/database/turns';
import { ApiError } from '../../plumbing/errors/api-error';
import { messageFor } from '../../plumbing/errors/messages';
import type { LargeBodyRule } from '../large-body.decorator';
import { RateLimitsService } from '../limits/rate-limits.service';
import { missingScope } from '../scope';
import { RequestPrincipalService } from './request-principal.service';

/**
 * Judges a request with a large body before the body is read, because guards run only after that: its token, its rate
 * limits and its scope. It counts as one here, and with the rest of its weight once that is known. Of each user one such
 * request is in hand at a time.
 */
@Injectable()
export class LargeBodiesService implements OnModuleInit {
  private readonly turns = new Turns(1);

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly principals: RequestPrincipalService,
    private readonly limits: RateLimitsService,
  ) {}

  onModuleInit(): void {
    // Commands, and applications that only publish, have no server.
    const server = this.host.httpAdapter?.getInstance<FastifyInstance>();
    server?.addHook?.('preParsing', async (request, reply) => this.judge(request, reply));
  }

  private async judge(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { scope, limits = [] } = request.routeOptions.config as LargeBodyRule;
    if (!scope) return;
    const principal = await this.principals.authenticate(request);
    const end = await this.turns.take(principal.userId);
    if (reply.raw.destroyed) return end();
    reply.raw.once('close', end);
    for (const limit of limits) reply.headers(this.limits.count(limit, principal.userId));
    const missing = missingScope([scope], principal.scopes);
    if (missing) throw new ApiError(403, messageFor.missingScope(missing));
  }
}
