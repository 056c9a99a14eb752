import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import type { Page } from '../../infrastructure/pagination/page';
import { IdParam } from '../../infrastructure/validation/api-request.decorator';
import type { Principal } from '../access-token';
import { AccessTokensService } from './access-tokens.service';
import { CurrentUser, Scopes } from '../route.decorator';
import { CreatedTokenDto, CreateTokenDto, DeletedTokenDto, ListTokensDto, MeDto, TokenDto } from './dto/token.dto';

@ApiTags('Access')
@Controller('api/tokens')
export class AccessTokensController {
  constructor(private readonly tokens: AccessTokensService) {}

  @Post()
  @Scopes(['tokens:manage', 'users:manage'])
  @ApiRoute(
    'Create an access token',
    'The token is returned only on creation. A token cannot have more scopes or a later expiry than the token that creates it, and is revoked with it. For a console session, that is the token which created the session.',
  )
  @ApiBody({
    type: CreateTokenDto,
    examples: {
      'for yourself': { value: { name: 'Backend, production', scopes: ['webhooks:read', 'webhooks:write'] } },
    },
  })
  @ApiAnswer(CreatedTokenDto, 'The new token.', { status: 201 })
  @ApiErrors(...BODY_ERRORS, 'admin_reserved', 'token_limit_reached', 'user_erased')
  async createToken(@CurrentUser() user: Principal, @Body() body: CreateTokenDto): Promise<CreatedTokenDto> {
    const { row, token } = await this.tokens.create(user, body);
    return CreatedTokenDto.with(row, token);
  }

  @Get()
  @Scopes(['tokens:manage', 'users:manage'])
  @ApiRoute('List access tokens', 'Returns live tokens, newest first.')
  @ApiAnswer(TokenDto, 'One page of tokens.', { page: true })
  @ApiErrors('validation_failed', 'cursor_invalid', 'admin_reserved')
  async listTokens(@CurrentUser() user: Principal, @Query() query: ListTokensDto): Promise<Page<TokenDto>> {
    return (await this.tokens.list(user, query)).map(TokenDto.from);
  }

  @Delete(':id')
  @Scopes(['tokens:manage', 'users:manage'])
  @ApiRoute('Revoke an access token', 'Takes effect immediately, and also revokes the tokens created with it.')
  @ApiAnswer(DeletedTokenDto, 'The id of the revoked token.')
  @ApiErrors(...BODY_ERRORS, 'not_found')
  async revokeToken(
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
  @ApiRoute('Read your token', 'Returns the id, user, scopes and expiry of the token.')
  @ApiAnswer(MeDto, 'The token of the request.')
  getMe(@CurrentUser() user: Principal): MeDto {
    return MeDto.from(user);
  }
}
