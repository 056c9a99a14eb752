import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Scopes } from '../auth/scopes.decorator';
import { ApiAnswer, ApiErrors } from '../http/api-answer.decorator';
import { EVENT_TYPES } from './catalogue';
import { EventTypeDto } from './dto/event-type.dto';

@ApiTags('Events')
@Controller('api/event-types')
export class EventTypesController {
  @Get()
  @Scopes()
  @ApiOperation({ summary: 'List the events', description: 'Every event that a webhook can subscribe to.' })
  @ApiAnswer(EventTypeDto, { list: true, description: 'Name, description, JSON Schema and example of each.' })
  @ApiErrors()
  list(): EventTypeDto[] {
    return EVENT_TYPES.map(EventTypeDto.from);
  }
}
