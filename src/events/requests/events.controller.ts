import { Controller, createParamDecorator, type ExecutionContext, HttpCode, Post } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiHeader, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { EVENT_TYPES, isReserved } from 'webhook-notification/catalogue';
import type { Origin } from '../accepted-events.service';
import { parseTraceparent } from '../traceparent';
import type { Principal } from '../../auth/access-token';
import { CurrentUser, HasOwnShare, LargeBody, RateLimit, Scopes } from '../../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import type { BodyRule } from '../../infrastructure/http/json-body.setup';
import { ParsedBody } from '../../infrastructure/validation/api-request.decorator';
import {
  audienceOf,
  countOf,
  forEachEvent,
  isWithoutKey,
  parseBatchRequest,
  parsePublish,
  type PublishRequest,
} from './publish-request';
import { CreateEventsDto, PublishedEventDto, CreateEventDto } from './dto/publish-event.dto';
import { EventsService } from '../events.service';
import { EventBatchesService } from './event-batches.service';

const TRACEPARENT = {
  name: 'traceparent',
  required: false,
  description: 'W3C Trace Context. Deliveries of the event carry the same trace id. Ignored when invalid.',
};

const PublishOrigin = createParamDecorator((_: unknown, context: ExecutionContext): Origin => {
  const { id, headers } = context.switchToHttp().getRequest<FastifyRequest>();
  // Node.js joins several headers of this name with commas. The result is invalid and is ignored.
  return { requestId: id, traceparent: parseTraceparent(headers.traceparent?.toString()) };
});

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

/** A valid batch with one event of each type that users may publish. */
const BATCH_EXAMPLES = {
  'one of each': {
    value: {
      events: EVENT_TYPES.filter(({ name }) => !isReserved(name)).map(({ name, example }) => ({
        event: name,
        data: example,
      })),
    },
  },
};

@ApiTags('Events')
@Controller('api/events')
export class EventsController {
  constructor(
    private readonly events: EventsService,
    private readonly batches: EventBatchesService,
  ) {}

  @Post()
  @HttpCode(202)
  @RouteConfig({ body: 'event' } satisfies BodyRule)
  @RateLimit({ limits: ['publish'] })
  // Events without a key share statements.
  @HasOwnShare(isWithoutKey)
  @Scopes('events:publish')
  @ApiRoute('Publish an event', 'Returns when the event is durably stored. Deliveries follow asynchronously.')
  @ApiBody({ type: CreateEventDto, examples: EXAMPLES })
  @ApiHeader(IDEMPOTENCY_KEY_HEADER)
  @ApiHeader(TRACEPARENT)
  @ApiAnswer(PublishedEventDto, 'The event is accepted.', { status: 202 })
  @ApiErrors(...BODY_ERRORS, 'idempotency_key_reused', 'user_erased')
  async publishEvent(
    @CurrentUser() user: Principal,
    @ParsedBody(parsePublish) { event, userId, ...request }: PublishRequest,
    @PublishOrigin() origin: Origin,
  ): Promise<PublishedEventDto> {
    const publication = { name: event, ...request, userId: audienceOf(user, userId), origin };
    return PublishedEventDto.from(await this.events.publishAs(user.userId, publication));
  }

  @Post('batch')
  @HttpCode(202)
  @LargeBody('batch', 'events:publish', { limits: ['publish'], weigh: countOf })
  @ApiRoute(
    'Publish up to 100 events',
    'Publishes all events or none. Errors name the position of the event, as in `events[3].data`. Each event may have an idempotencyKey; the header Idempotency-Key is ignored.',
  )
  @ApiBody({ type: CreateEventsDto, examples: BATCH_EXAMPLES })
  @ApiHeader(TRACEPARENT)
  @ApiAnswer(PublishedEventDto, 'The events are accepted. One entry per event, in order.', { status: 202, list: true })
  @ApiErrors(...BODY_ERRORS, 'idempotency_key_reused', 'user_erased')
  async publishEvents(
    @CurrentUser() user: Principal,
    @ParsedBody(parseBatchRequest) requests: PublishRequest[],
    @PublishOrigin() origin: Origin,
  ): Promise<PublishedEventDto[]> {
    const publications = forEachEvent(requests, ({ event, userId, ...request }) => ({
      ...{ name: event, ...request, userId: audienceOf(user, userId), origin },
    }));
    return (await this.batches.publishAs(user.userId, publications)).map(PublishedEventDto.from);
  }
}
