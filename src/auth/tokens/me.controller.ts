import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiAnswer } from '../../plumbing/http/api-answer.decorator';
import type { Principal } from '../access-token';
import { CurrentUser } from '../current-user.decorator';
import { MeDto } from './dto/me.dto';
import { Scopes } from '../scopes.decorator';

@ApiTags('Access')
@Controller('api/me')
export class MeController {
  @Get()
  @Scopes()
  @ApiOperation({ summary: 'Who am I?', description: 'The id, the user, the scopes and the expiry of the token.' })
  @ApiAnswer(MeDto, { description: 'The token as the service sees it.' })
  read(@CurrentUser() user: Principal): MeDto {
    return MeDto.from(user);
  }
}
