import { Body, Controller, Delete, Get, HttpCode, Query } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { USER_ID } from 'webhook-notification/catalogue';
import { invalid, MESSAGES } from '../infrastructure/errors/api-error';
import { IdParam, PathParam } from '../infrastructure/validation/api-request.decorator';
import type { Principal } from '../auth/access-token';
import { CurrentUser, Scopes } from '../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../infrastructure/http/api-answer.decorator';
import type { Page } from '../infrastructure/pagination/page';
import { ErasureRequestDto, ErasureDto, ListErasuresDto } from './dto/erasure.dto';
import { ErasuresService } from './erasures.service';

/** Validates that a path segment is a user id (otherwise returns 400), and documents it. */
const UserIdParam = (): ParameterDecorator =>
  PathParam({
    name: 'userId',
    description: 'Id of the user.',
    schema: { type: 'string', pattern: USER_ID.source },
    parse: (text) => {
      if (!USER_ID.test(text)) throw invalid('userId', MESSAGES.badUserId);
      return text;
    },
  });

@ApiTags('Access')
@Controller('api')
export class ErasuresController {
  constructor(private readonly erasures: ErasuresService) {}

  @Delete('users/:userId')
  @HttpCode(202)
  @Scopes('users:erase')
  @ApiRoute(
    'Forget a user',
    'Deletes everything that the service stores about the user, in the background; read the erasure to see its progress. Until it is done, requests of the user return 401, and events for the user are refused with `user_erased`. Afterwards the id is free again. While an erasure of the user is running, returns that one. Cannot be undone.',
  )
  @ApiBody({ type: ErasureRequestDto })
  @ApiAnswer(ErasureDto, 'The running erasure.', { status: 202 })
  @ApiErrors(...BODY_ERRORS, 'user_not_erasable')
  async eraseUser(
    @CurrentUser() user: Principal,
    @UserIdParam() userId: string,
    @Body() { confirm }: ErasureRequestDto,
  ): Promise<ErasureDto> {
    return ErasureDto.from(await this.erasures.begin(user, userId, confirm));
  }

  @Get('erasures')
  @Scopes('users:erase')
  @ApiRoute('List erasures', 'Newest first, by anyone.')
  @ApiAnswer(ErasureDto, 'One page of erasures.', { page: true })
  @ApiErrors('validation_failed', 'cursor_invalid')
  async listErasures(@CurrentUser() user: Principal, @Query() query: ListErasuresDto): Promise<Page<ErasureDto>> {
    return (await this.erasures.list(user, query)).map(ErasureDto.from);
  }

  @Get('erasures/:id')
  @Scopes('users:erase')
  @ApiRoute('Read the progress of an erasure')
  @ApiAnswer(ErasureDto, 'The erasure.')
  @ApiErrors('validation_failed', 'not_found')
  async getErasure(@IdParam('id', 'Id of the erasure.') id: string): Promise<ErasureDto> {
    return ErasureDto.from(await this.erasures.read(id));
  }
}
