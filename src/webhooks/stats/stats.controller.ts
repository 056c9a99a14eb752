import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Principal } from '../../auth/access-token';
import { CurrentUser, Scopes } from '../../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute } from '../../infrastructure/http/api-answer.decorator';
import { StatsDto, StatsQueryDto } from './dto/stats.dto';
import { StatsService } from './stats.service';

@ApiTags('Deliveries')
@Controller('api/stats')
export class StatsController {
  constructor(private readonly stats: StatsService) {}

  @Get()
  @Scopes('deliveries:read')
  @ApiRoute(
    'Count attempts',
    'Returns statistics of attempts by the time of their outcome, in steps of UTC. They are exact, exclude test deliveries, and include attempts of deleted webhooks unless you pass webhookId. At most 300 steps.',
  )
  @ApiAnswer(StatsDto, 'The statistics of each step, and the totals.')
  @ApiErrors('validation_failed', 'not_found')
  async getStats(@CurrentUser() { userId }: Principal, @Query() query: StatsQueryDto): Promise<StatsDto> {
    return StatsDto.from(await this.stats.read(userId, query));
  }
}
