import { Body, Controller, Delete, Post, Req } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import type { Principal } from '../../auth/access-token';
import { CurrentUser, Scopes, WithoutToken } from '../../auth/route.decorator';
import { DeletedTokenDto } from '../../auth/tokens/dto/token.dto';
import { ConsoleLinksService } from './console-links.service';
import { ConsoleSessionsService } from './console-sessions.service';
import {
  ConsoleLinkDto,
  ConsoleSessionDto,
  CreateConsoleLinkDto,
  CreateConsoleSessionDto,
} from './dto/console-session.dto';

@ApiTags('Access')
@Controller('api')
export class ConsoleLinksController {
  constructor(
    private readonly links: ConsoleLinksService,
    private readonly sessions: ConsoleSessionsService,
  ) {}

  @Post('console-links')
  @Scopes(['tokens:manage', 'users:manage'])
  @ApiRoute(
    'Create a console link',
    'The link works once, within 5 minutes. The console asks the user for confirmation before it signs them in. The session cannot have more scopes or a later expiry than the token that creates the link, and is revoked with it.',
  )
  @ApiBody({
    type: CreateConsoleLinkDto,
    required: false,
    examples: { 'for yourself': { value: { path: '/console/deliveries' } } },
  })
  @ApiAnswer(ConsoleLinkDto, 'The link.', { status: 201 })
  @ApiErrors(...BODY_ERRORS, 'scope_not_allowed', 'admin_reserved', 'user_erased')
  async createConsoleLink(@CurrentUser() user: Principal, @Body() body: CreateConsoleLinkDto): Promise<ConsoleLinkDto> {
    const { userId = user.userId, ...options } = body;
    return ConsoleLinkDto.from(await this.links.createBy(user, userId, options));
  }

  @Post('console-sessions')
  @WithoutToken('code')
  @Scopes()
  @ApiRoute(
    'Create a console session',
    'With `code`, exchanges the code of a link, once, and requires no access token. Without it, creates a session for the access token: with the same scopes, for 12 hours or as long as the token. The session is revoked with that token, and cannot create another session.',
  )
  @ApiBody({
    type: CreateConsoleSessionDto,
    required: false,
    examples: { 'for the access token': { value: {} } },
  })
  @ApiAnswer(ConsoleSessionDto, 'The session.', { status: 201 })
  @ApiErrors(...BODY_ERRORS, 'link_invalid', 'session_of_session')
  async createConsoleSession(
    @CurrentUser() user: Principal,
    @Body() { code }: CreateConsoleSessionDto,
    @Req() request: FastifyRequest,
  ): Promise<ConsoleSessionDto> {
    return ConsoleSessionDto.from(await this.sessions.begin(code, user, request));
  }

  @Delete('console-sessions')
  @Scopes()
  @ApiRoute(
    'End the current session',
    'Takes effect immediately, also for tokens created with it. Requires no scope, but the token of the session: any other token returns 409.',
  )
  @ApiAnswer(DeletedTokenDto, 'The id of the ended session.')
  @ApiErrors(...BODY_ERRORS, 'not_a_session')
  async endConsoleSession(@CurrentUser() user: Principal): Promise<DeletedTokenDto> {
    return { id: await this.sessions.end(user) };
  }
}
