import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Scopes } from '../auth/scopes.decorator';
import { ApiAnswer, ApiErrors } from '../http/api-answer.decorator';
import { EVENT_TYPES, TEST_EVENT_TYPE } from './catalogue';
import { EventTypeDto } from './dto/event-type.dto';

@ApiTags('Events')
@Controller('api/event-types')
export class EventTypesController {
  @Get()
  @Scopes()
  @ApiOperation({
    summary: 'List the events',
    description: 'Every event that a receiver can get. All but webhook.test can be subscribed to.',
  })
  @ApiAnswer(EventTypeDto, { list: true, description: 'Name, description, JSON Schema and example of each.' })
  @ApiErrors()
  list(): EventTypeDto[] {
    return [...EVENT_TYPES, TEST_EVENT_TYPE].map(EventTypeDto.from);
  }
}
