import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiAnswer, ApiErrors, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import type { Page } from '../../infrastructure/pagination/page';
import { IdParam } from '../../infrastructure/validation/api-request.decorator';
import type { Principal } from '../access-token';
import { AccessTokensService } from './access-tokens.service';
import { CurrentUser } from '../current-user.decorator';
import { CreatedTokenDto, CreateTokenDto, DeletedTokenDto, ListTokensDto, MeDto, TokenDto } from './dto/token.dto';
import { Scopes } from '../scopes.decorator';

@ApiTags('Access')
@Controller('api/tokens')
export class AccessTokensController {
  constructor(private readonly tokens: AccessTokensService) {}

  @Post()
  @Scopes(['tokens:manage', 'users:manage'])
  @ApiOperation({
    operationId: 'createToken',
    summary: 'Create an access token',
    description:
      'The token is returned only on creation. A token cannot have more scopes or a later expiry than the token that creates it, and is revoked with it. For a console session, that is the token which created the session.',
  })
  @ApiBody({
    type: CreateTokenDto,
    examples: {
      'for yourself': { value: { name: 'Backend, production', scopes: ['webhooks:read', 'webhooks:write'] } },
    },
  })
  @ApiAnswer(CreatedTokenDto, { status: 201, description: 'The new token.' })
  @ApiErrors(...BODY_ERRORS, 'admin_reserved', 'token_limit_reached', 'user_erased')
  async create(@CurrentUser() user: Principal, @Body() body: CreateTokenDto): Promise<CreatedTokenDto> {
    const { row, token } = await this.tokens.create(user, body);
    return CreatedTokenDto.with(row, token);
  }

  @Get()
  @Scopes(['tokens:manage', 'users:manage'])
  @ApiOperation({
    operationId: 'listTokens',
    summary: 'List access tokens',
    description: 'Returns live tokens, newest first.',
  })
  @ApiAnswer(TokenDto, { page: true, description: 'One page of tokens.' })
  @ApiErrors('validation_failed', 'cursor_invalid', 'admin_reserved')
  async list(@CurrentUser() user: Principal, @Query() query: ListTokensDto): Promise<Page<TokenDto>> {
    return (await this.tokens.list(user, query)).map(TokenDto.from);
  }

  @Delete(':id')
  @Scopes(['tokens:manage', 'users:manage'])
  @ApiOperation({
    operationId: 'revokeToken',
    summary: 'Revoke an access token',
    description: 'Takes effect immediately, and also revokes the tokens created with it.',
  })
  @ApiAnswer(DeletedTokenDto, { description: 'The id of the revoked token.' })
  @ApiErrors(...BODY_ERRORS, 'not_found')
  async revoke(
    @CurrentUser() user: Principal,
    @IdParam('id', 'Id of the token.') id: string,
  ): Promise<DeletedTokenDto> {
    await this.tokens.revoke(user, id);
    return { id };
  }
}

@ApiTags('Access')
@Controller('api/me')
export class MeController {
  @Get()
  @Scopes()
  @ApiOperation({
    operationId: 'getMe',
    summary: 'Read your token',
    description: 'Returns the id, user, scopes and expiry of the token.',
  })
  @ApiAnswer(MeDto, { description: 'The token of the request.' })
  read(@CurrentUser() user: Principal): MeDto {
    return MeDto.from(user);
  }
}
