import { Body, Controller, Delete, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiAnswer, ApiErrors } from '../../plumbing/http/api-answer.decorator';
import type { Principal } from '../access-token';
import { CurrentUser } from '../current-user.decorator';
import { Scopes } from '../scopes.decorator';
import { DeletedTokenDto } from '../tokens/dto/token.dto';
import { WithoutToken } from '../without-token.decorator';
import { ConsoleLinksService } from './console-links.service';
import { ConsoleSessionsService } from './console-sessions.service';
import { ConsoleLinkDto, CreateConsoleLinkDto } from './dto/console-link.dto';
import { ConsoleSessionDto, CreateConsoleSessionDto } from './dto/console-session.dto';

@ApiTags('Access')
@Controller('api')
export class ConsoleLinksController {
  constructor(
    private readonly links: ConsoleLinksService,
    private readonly sessions: ConsoleSessionsService,
  ) {}

  @Post('console-links')
  @Scopes(['tokens:manage', 'users:manage'])
  @ApiOperation({
    summary: 'Make a link to the console',
    description:
      'It works once, within 5 minutes. The console asks the user before it signs them in. The session can do no more, and live no longer, than the token that makes the link, and ends with it.',
  })
  @ApiBody({ type: CreateConsoleLinkDto, required: false })
  @ApiAnswer(ConsoleLinkDto, { status: 201, description: 'The link.' })
  @ApiErrors(413, 415)
  async create(@CurrentUser() user: Principal, @Body() body: CreateConsoleLinkDto): Promise<ConsoleLinkDto> {
    const { userId = user.userId, ...options } = body;
    return ConsoleLinkDto.from(await this.links.createBy(user, userId, options));
  }

  @Post('console-sessions')
  @WithoutToken('code')
  @Scopes()
  @ApiOperation({
    summary: 'Begin a session at the console',
    description:
      'With `code`, exchanges the code of a link, once, and needs no access token. Without it, makes a session of the access token: with the same scopes, for 12 hours or as long as the token. The session ends with that token, and cannot make another session.',
  })
  @ApiBody({ type: CreateConsoleSessionDto, required: false })
  @ApiAnswer(ConsoleSessionDto, { status: 201, description: 'The session.' })
  @ApiErrors(409, 413, 415)
  async begin(
    @CurrentUser() user: Principal,
    @Body() { code }: CreateConsoleSessionDto,
    @Req() request: FastifyRequest,
  ): Promise<ConsoleSessionDto> {
    return ConsoleSessionDto.from(await this.sessions.begin(code, user, request));
  }

  @Delete('console-sessions')
  @Scopes()
  @ApiOperation({
    summary: 'End the session that asks',
    description: 'At once, together with the tokens made with it. No scope is needed; any other token gets 409.',
  })
  @ApiAnswer(DeletedTokenDto, { description: 'The id of the session that has ended.' })
  @ApiErrors(409, 413, 415)
  async end(@CurrentUser() user: Principal): Promise<DeletedTokenDto> {
    return { id: await this.sessions.end(user) };
  }
}
