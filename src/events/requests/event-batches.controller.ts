import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiTags } from '@nestjs/swagger';
import { EVENT_TYPES, isReserved } from 'webhook-notification/catalogue';
import type { Principal } from '../../auth/access-token';
import { CurrentUser } from '../../auth/current-user.decorator';
import { LargeBody } from '../../auth/large-body.decorator';
import { ApiAnswer, ApiErrors } from '../../infrastructure/http/api-answer.decorator';
import type { Origin } from '../accepted-events.service';
import { audienceOf } from './audience';
import { countOf, forEachEvent, parseBatchRequest } from './batch-request';
import { PublishBatchDto, PublishedEventDto } from './dto/publish-event.dto';
import { EventBatchesService } from './event-batches.service';
import { PublishOrigin, TRACEPARENT } from './publish-origin.decorator';
import { parsePublishRequest } from './publish-request';

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
  @ApiErrors(409, 413, 415)
  async publish(
    @CurrentUser() user: Principal,
    @Body() body: unknown,
    @PublishOrigin() origin: Origin,
  ): Promise<PublishedEventDto[]> {
    const publications = forEachEvent(parseBatchRequest(body), (one) => {
      const { event, data, idempotencyKey, userId } = parsePublishRequest(one);
      return { name: event, data, idempotencyKey, userId: audienceOf(user, userId), origin };
    });
    return (await this.batches.publishAs(user.userId, publications)).map(PublishedEventDto.from);
  }
}
