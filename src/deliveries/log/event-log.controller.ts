import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Principal } from '../../auth/access-token';
import { CurrentUser, Scopes } from '../../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute } from '../../infrastructure/http/api-answer.decorator';
import { IdParam } from '../../infrastructure/validation/api-request.decorator';
import type { Page } from '../../infrastructure/pagination/page';
import { EventDetailDto, EventDto, EventQueryDto } from './dto/event.dto';
import { EventLogService } from './event-log.service';

@ApiTags('Events')
@Controller('api/events')
export class EventLogController {
  constructor(private readonly log: EventLogService) {}

  @Get()
  @Scopes('deliveries:read')
  @ApiRoute(
    'List events',
    'Events that are addressed to you, that you published, or that were sent to your webhooks; newest first.',
  )
  @ApiAnswer(EventDto, 'One page of events.', { page: true })
  @ApiErrors('validation_failed', 'cursor_invalid')
  async listEvents(@CurrentUser() { userId }: Principal, @Query() query: EventQueryDto): Promise<Page<EventDto>> {
    return (await this.log.list(userId, query)).map((event) => EventDto.from(event, userId));
  }

  @Get(':id')
  @Scopes('deliveries:read')
  @ApiRoute('Read an event', 'Includes its deliveries to your own webhooks.')
  @ApiAnswer(EventDetailDto, 'The event and its deliveries.')
  @ApiErrors('validation_failed', 'not_found')
  async getEvent(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the event.') id: string,
  ): Promise<EventDetailDto> {
    const { event, deliveries } = await this.log.read(userId, id);
    return EventDetailDto.with(event, userId, deliveries);
  }
}
