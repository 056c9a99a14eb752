import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import { EVENT_TYPES, isReserved } from 'webhook-notification/catalogue';
import type { Principal } from '../../auth/access-token';
import { CurrentUser } from '../../auth/current-user.decorator';
import { LargeBody } from '../../auth/large-body.decorator';
import { ApiAnswer, ApiErrors, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import { ParsedBody } from '../../infrastructure/validation/parsed-body.decorator';
import type { Origin } from '../accepted-events.service';
import { audienceOf } from './audience';
import { countOf, forEachEvent, parseBatchRequest } from './batch-request';
import { PublishBatchDto, PublishedEventDto } from './dto/publish-event.dto';
import { EventBatchesService } from './event-batches.service';
import { PublishOrigin, TRACEPARENT } from './publish-origin.decorator';
import type { PublishRequest } from './publish-request';

/** A valid batch with one event of each type that users may publish. */
const EXAMPLES = {
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
@Controller('api/events/batch')
export class EventBatchesController {
  constructor(private readonly batches: EventBatchesService) {}

  @Post()
  @HttpCode(202)
  @LargeBody('batch', 'events:publish', { limits: ['publish'], weigh: countOf })
  @ApiOperation({
    operationId: 'publishEvents',
    summary: 'Publish up to 100 events',
    description:
      'Publishes all events or none. Errors name the position of the event, as in `events[3].data`. Each event may have an idempotencyKey; the header Idempotency-Key is ignored.',
  })
  @ApiBody({ type: PublishBatchDto, examples: EXAMPLES })
  @ApiHeader(TRACEPARENT)
  @ApiAnswer(PublishedEventDto, {
    status: 202,
    list: true,
    description: 'The events are accepted. One entry per event, in order.',
  })
  @ApiErrors(...BODY_ERRORS, 'idempotency_key_reused', 'user_erased')
  async publish(
    @CurrentUser() user: Principal,
    @ParsedBody(parseBatchRequest) requests: PublishRequest[],
    @PublishOrigin() origin: Origin,
  ): Promise<PublishedEventDto[]> {
    const publications = forEachEvent(requests, ({ event, data, idempotencyKey, userId }) => ({
      ...{ name: event, data, idempotencyKey, userId: audienceOf(user, userId), origin },
    }));
    return (await this.batches.publishAs(user.userId, publications)).map(PublishedEventDto.from);
  }
}
