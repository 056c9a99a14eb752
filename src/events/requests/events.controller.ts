import { Controller, HttpCode, Post } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import { EVENT_TYPES, isReserved } from 'webhook-notification/catalogue';
import type { Principal } from '../../auth/access-token';
import { CurrentUser } from '../../auth/current-user.decorator';
import { RateLimit } from '../../auth/rate-limit.decorator';
import { Scopes } from '../../auth/scopes.decorator';
import { ApiAnswer, ApiErrors, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import type { BodyRule } from '../../infrastructure/http/json-body.setup';
import { ParsedBody } from '../../infrastructure/validation/parsed-body.decorator';
import { audienceOf } from './audience';
import { PublishEventDto, PublishedEventDto } from './dto/publish-event.dto';
import type { Origin } from '../accepted-events.service';
import { EventsService } from '../events.service';
import { PublishOrigin, TRACEPARENT } from './publish-origin.decorator';
import { parsePublish, type PublishRequest } from './publish-request';

/** One example for each event that users may publish. Swagger UI offers them for selection. */
const EXAMPLES = Object.fromEntries(
  EVENT_TYPES.filter(({ name }) => !isReserved(name)).map(({ name: event, description, example: data }) => [
    event,
    { summary: description, value: { event, data } },
  ]),
);

/** Description of the header in the OpenAPI document. Spaces around its value are not part of it. */
const IDEMPOTENCY_KEY_HEADER = {
  name: 'idempotency-key',
  required: false,
  description: 'The same as the field idempotencyKey.',
  schema: { type: 'string' as const, pattern: '^[!-~]([ -~]{0,253}[!-~])?$' },
};

@ApiTags('Events')
@Controller('api/events')
export class EventsController {
  constructor(private readonly events: EventsService) {}

  @Post()
  @HttpCode(202)
  @RouteConfig({ body: 'event' } satisfies BodyRule)
  @RateLimit({ limits: ['publish'] })
  @Scopes('events:publish')
  @ApiOperation({
    operationId: 'publishEvent',
    summary: 'Publish an event',
    description: 'Returns when the event is durably stored. Deliveries follow asynchronously.',
  })
  @ApiBody({ type: PublishEventDto, examples: EXAMPLES })
  @ApiHeader(IDEMPOTENCY_KEY_HEADER)
  @ApiHeader(TRACEPARENT)
  @ApiAnswer(PublishedEventDto, { status: 202, description: 'The event is accepted.' })
  @ApiErrors(...BODY_ERRORS, 'idempotency_key_reused', 'user_erased')
  async publish(
    @CurrentUser() user: Principal,
    @ParsedBody(parsePublish) { event, data, idempotencyKey, userId }: PublishRequest,
    @PublishOrigin() origin: Origin,
  ): Promise<PublishedEventDto> {
    const publication = { name: event, data, idempotencyKey, userId: audienceOf(user, userId), origin };
    return PublishedEventDto.from(await this.events.publishAs(user.userId, publication));
  }
}
