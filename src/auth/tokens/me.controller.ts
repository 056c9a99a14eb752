import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiAnswer } from '../../infrastructure/http/api-answer.decorator';
import type { Principal } from '../access-token';
import { CurrentUser } from '../current-user.decorator';
import { MeDto } from './dto/token.dto';
import { Scopes } from '../scopes.decorator';

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
