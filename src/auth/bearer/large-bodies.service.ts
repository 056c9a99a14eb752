import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { BodyRule } from '../../plumbing/http/json-body.launcher';
import { AuthenticationService } from './authentication.service';
import { bearerTokenOf, senderOf, unauthenticated } from './credentials';
import { RateLimitsService } from '../limits/rate-limits.service';

/** Checks the token of a request with a large body before the body is read. Guards run only after that. */
@Injectable()
export class LargeBodiesService implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly authentication: AuthenticationService,
    private readonly limits: RateLimitsService,
  ) {}

  onModuleInit(): void {
    // Commands, and applications that only publish, have no server.
    const server = this.host.httpAdapter?.getInstance<FastifyInstance>();
    server?.addHook?.('preParsing', async (request) => this.judge(request));
  }

  private async judge(request: FastifyRequest): Promise<void> {
    const { body } = request.routeOptions.config as BodyRule;
    if (body !== 'batch' && body !== 'list') return;
    const token = bearerTokenOf(request);
    if (token && (await this.authentication.authenticate(token))) return;
    this.limits.count('failure', senderOf(request));
    throw unauthenticated();
  }
}
