import { Body, Controller, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiAnswer, ApiErrors } from '../../plumbing/http/api-answer.decorator';
import type { Principal } from '../access-token';
import { CurrentUser } from '../current-user.decorator';
import { Scopes } from '../scopes.decorator';
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
      'Whoever opens it first, within 5 minutes, is signed in. The session can do no more, and live no longer, than the token that makes the link, and ends with it.',
  })
  @ApiBody({ type: CreateConsoleLinkDto, required: false })
  @ApiAnswer(ConsoleLinkDto, { status: 201, description: 'The link.' })
  @ApiErrors(413, 415)
  async create(@CurrentUser() user: Principal, @Body() body: CreateConsoleLinkDto): Promise<ConsoleLinkDto> {
    const { userId = user.userId, ...options } = body;
    return ConsoleLinkDto.from(await this.links.createBy(user, userId, options));
  }

  @Post('console-sessions')
  @WithoutToken()
  @ApiOperation({
    summary: 'Exchange the code of a link for a session',
    description: 'Once: of several at once one gets the session. Takes no access token.',
  })
  @ApiAnswer(ConsoleSessionDto, { status: 201, description: 'The session.' })
  @ApiErrors(413, 415)
  async begin(@Body() { code }: CreateConsoleSessionDto, @Req() request: FastifyRequest): Promise<ConsoleSessionDto> {
    return ConsoleSessionDto.from(await this.sessions.begin(code, request));
  }
}
