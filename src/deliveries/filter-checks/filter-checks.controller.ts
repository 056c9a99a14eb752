import { Controller, HttpCode, Post } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Principal } from '../../auth/access-token';
import { CurrentUser } from '../../auth/current-user.decorator';
import { Scopes } from '../../auth/scopes.decorator';
import { ApiAnswer, ApiErrors, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import type { BodyRule } from '../../infrastructure/http/json-body.setup';
import { ParsedBody } from '../../infrastructure/validation/parsed-body.decorator';
import { CheckFilterDto, FilterCheckDto } from './dto/filter-check.dto';
import { type FilterCheck, parseFilterCheck } from './filter-check';
import { FilterChecksService } from './filter-checks.service';

const filter = { 'data.amountCents': { gte: 1000 } };
const EXAMPLES = {
  'an event of the body': { value: { filter, event: 'order.paid', data: { amountCents: 500 } } },
  'a stored event': { value: { filter, eventId: '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90' } },
};

@ApiTags('Webhooks')
@Controller('api/filter-checks')
export class FilterChecksController {
  constructor(private readonly checks: FilterChecksService) {}

  @Post()
  @HttpCode(200)
  @RouteConfig({ body: 'event' } satisfies BodyRule)
  @Scopes('webhooks:read')
  @ApiOperation({
    operationId: 'checkFilter',
    summary: 'Check a filter against an event',
    description: 'Tells whether the event matches, and which operators do not hold. Changes nothing.',
  })
  @ApiBody({ type: CheckFilterDto, examples: EXAMPLES })
  @ApiAnswer(FilterCheckDto, { description: 'Whether the event matches.' })
  @ApiErrors(...BODY_ERRORS, 'not_found')
  async check(
    @CurrentUser() user: Principal,
    @ParsedBody(parseFilterCheck) wanted: FilterCheck,
  ): Promise<FilterCheckDto> {
    return FilterCheckDto.from(await this.checks.check(user, wanted));
  }
}
