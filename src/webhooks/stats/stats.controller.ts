import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Principal } from '../../auth/access-token';
import { CurrentUser } from '../../auth/current-user.decorator';
import { Scopes } from '../../auth/scopes.decorator';
import { ApiAnswer, ApiErrors } from '../../plumbing/http/api-answer.decorator';
import { StatsDto } from './dto/stats.dto';
import { StatsQueryDto } from './dto/stats-query.dto';
import { StatsService } from './stats.service';

@ApiTags('Deliveries')
@Controller('api/stats')
export class StatsController {
  constructor(private readonly stats: StatsService) {}

  @Get()
  @Scopes('deliveries:read')
  @ApiOperation({
    summary: 'Count attempts',
    description:
      'What the attempts of a span of time came to, by the time of their outcome, in steps of UTC. Exact, tests apart; those of deleted webhooks included unless one webhook is asked for. At most 300 steps.',
  })
  @ApiAnswer(StatsDto, { description: 'The numbers of each step, and of all together.' })
  @ApiErrors(404)
  async read(@CurrentUser() { userId }: Principal, @Query() query: StatsQueryDto): Promise<StatsDto> {
    return StatsDto.from(await this.stats.read(userId, query));
  }
}
