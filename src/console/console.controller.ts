import { Controller, Get, HttpStatus, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Config } from '../plumbing/config/config';
import { ApiError } from '../plumbing/errors/api-error';
import { messageFor, MESSAGES } from '../plumbing/errors/messages';

/** The pages of the console. Everything that they do is the documented API with the user's token. */
@ApiExcludeController()
@Controller()
export class ConsoleController {
  constructor(private readonly config: Config) {}

  /** Leads to the console, by a path that holds behind a prefix of a proxy too. */
  @Get()
  root(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.requireConsole(request);
    void reply.redirect('console/', HttpStatus.SEE_OTHER);
  }

  /** @throws ApiError 503: this build has no pages */
  @Get(['console', 'console/*'])
  page(@Req() request: FastifyRequest): never {
    this.requireConsole(request);
    throw new ApiError(503, MESSAGES.consoleNotBuilt);
  }

  private requireConsole({ method, url }: FastifyRequest): void {
    if (!this.config.console) throw new ApiError(404, messageFor.noRoute(method, url.split('?', 1)[0] ?? ''));
  }
}
