import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Scopes } from '../auth/scopes.decorator';
import { ApiAnswer } from '../plumbing/http/api-answer.decorator';
import { EventCatalogue } from './event-catalogue';
import { EventTypeDto } from './dto/event-type.dto';

@ApiTags('Events')
@Controller('api/event-types')
export class EventTypesController {
  constructor(private readonly catalogue: EventCatalogue) {}

  @Get()
  @Scopes()
  @ApiOperation({
    summary: 'List the events',
    description: 'Every event that a receiver can get. All but webhook.test can be subscribed to.',
  })
  @ApiAnswer(EventTypeDto, { list: true, description: 'Name, description, JSON Schema and example of each.' })
  list(): EventTypeDto[] {
    return this.catalogue.all.map(EventTypeDto.from);
  }
}
