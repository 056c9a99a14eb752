import { Controller, HttpCode, Post } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { Principal } from '../../auth/access-token';
import { CurrentUser, Scopes } from '../../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import type { BodyRule } from '../../infrastructure/http/json-body.setup';
import { ParsedBody } from '../../infrastructure/validation/api-request.decorator';
import { FilterCheckRequestDto, FilterCheckDto, FormatPreviewDto, FormatPreviewRequestDto } from './dto/previews.dto';
import { type FilterCheck, type FormatPreview, parseFilterCheck, parseFormatPreview } from './preview-requests';
import { PreviewsService } from './previews.service';

/** No example names a stored event: an id that nothing has would return 404. */
const example = { event: 'order.paid', data: { amountCents: 500 } };
const EXAMPLES = {
  filter: { 'an event of the body': { value: { filter: { 'data.amountCents': { gte: 1000 } }, ...example } } },
  format: { 'an event of the body': { value: { format: 'slack', ...example } } },
};

@ApiTags('Webhooks')
@Controller('api')
export class PreviewsController {
  constructor(private readonly previews: PreviewsService) {}

  @Post('filter-checks')
  @HttpCode(200)
  @RouteConfig({ body: 'event' } satisfies BodyRule)
  @Scopes('webhooks:read')
  @ApiRoute(
    'Check a filter against an event',
    'Tells whether the event matches, and which operators do not hold. Changes nothing.',
  )
  @ApiBody({ type: FilterCheckRequestDto, examples: EXAMPLES.filter })
  @ApiAnswer(FilterCheckDto, 'Whether the event matches.')
  @ApiErrors(...BODY_ERRORS, 'not_found')
  async checkFilter(
    @CurrentUser() user: Principal,
    @ParsedBody(parseFilterCheck) wanted: FilterCheck,
  ): Promise<FilterCheckDto> {
    return FilterCheckDto.from(await this.previews.checkFilter(user, wanted));
  }

  @Post('format-previews')
  @HttpCode(200)
  @RouteConfig({ body: 'event' } satisfies BodyRule)
  @Scopes('webhooks:read')
  @ApiRoute('Preview an event in a format', 'Returns the body that a webhook with this format receives. Sends nothing.')
  @ApiBody({ type: FormatPreviewRequestDto, examples: EXAMPLES.format })
  @ApiAnswer(FormatPreviewDto, 'The body and its content type.')
  @ApiErrors(...BODY_ERRORS, 'not_found')
  async previewFormat(
    @CurrentUser() user: Principal,
    @ParsedBody(parseFormatPreview) wanted: FormatPreview,
  ): Promise<FormatPreviewDto> {
    return FormatPreviewDto.from(await this.previews.format(user, wanted));
  }
}
