import { Body, Controller, Delete, Get, HttpStatus, Param, Post, Put, Query, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { EVENT_NAME, EventCatalogue } from 'webhook-notification/catalogue';
import { Scopes } from '../../auth/scopes.decorator';
import { ApiError } from '../../plumbing/errors/api-error';
import { ApiAnswer, ApiErrors } from '../../plumbing/http/api-answer.decorator';
import type { BodyRule } from '../../plumbing/http/json-body.launcher';
import { CreateEventTypeDto, SaveEventTypeDto } from './dto/declare-event-type.dto';
import { DeletedEventTypeDto, EventTypeDto } from './dto/event-type.dto';
import { DeleteEventTypeQueryDto, SaveEventTypeQueryDto } from './dto/event-type-query.dto';
import { parseEventTypeRequest } from './event-type-request';
import { EventTypesService } from './event-types.service';

const NAME = {
  name: 'name',
  description: 'Name of the event type.',
  schema: { type: 'string' as const, maxLength: 128, pattern: EVENT_NAME.source },
};

@ApiTags('Events')
@Controller('api/event-types')
export class EventTypesController {
  constructor(
    private readonly catalogue: EventCatalogue,
    private readonly types: EventTypesService,
  ) {}

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

  @Post()
  @Scopes('event-types:manage')
  @RouteConfig({ body: 'event-type' } satisfies BodyRule)
  @ApiOperation({
    summary: 'Declare an event type',
    description: 'For everybody. All processes of the service know it within two seconds.',
  })
  @ApiBody({ type: CreateEventTypeDto })
  @ApiAnswer(EventTypeDto, { status: 201, description: 'The new event type.' })
  @ApiErrors(409, 413, 415)
  async create(@Body() body: unknown): Promise<EventTypeDto> {
    const { name, ...type } = parseEventTypeRequest(body, ['name']);
    if (typeof name !== 'string') throw new ApiError(400, 'name must be a string');
    return EventTypeDto.from(await this.types.create({ ...type, name }));
  }

  @Put(':name')
  @Scopes('event-types:manage')
  @RouteConfig({ body: 'event-type' } satisfies BodyRule)
  @ApiOperation({
    summary: 'Declare or change an event type',
    description:
      'What it takes the place of must have come over the API, with the same application or with none. A Nest application declares its types so when it starts.',
  })
  @ApiParam(NAME)
  @ApiBody({ type: SaveEventTypeDto })
  @ApiAnswer(EventTypeDto, { status: 201, description: 'The new event type.' })
  @ApiAnswer(EventTypeDto, { status: 200, description: 'The event type as it is now.' })
  @ApiErrors(404, 409, 413, 415)
  async save(
    @Param('name') name: string,
    @Query() { force = false }: SaveEventTypeQueryDto,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EventTypeDto> {
    const { type, isNew } = await this.types.save({ ...parseEventTypeRequest(body, ['application']), name }, force);
    void reply.status(isNew ? HttpStatus.CREATED : HttpStatus.OK);
    return EventTypeDto.from(type);
  }

  @Delete(':name')
  @Scopes('event-types:manage')
  @ApiOperation({
    summary: 'Delete an event type',
    description: 'Nobody can publish it any more. Webhooks keep its name, and it can be declared again.',
  })
  @ApiParam(NAME)
  @ApiAnswer(DeletedEventTypeDto, { description: 'The name that is gone.' })
  @ApiErrors(404, 409, 413, 415)
  async remove(
    @Param('name') name: string,
    @Query() { application }: DeleteEventTypeQueryDto,
  ): Promise<DeletedEventTypeDto> {
    await this.types.remove(name, application ?? null);
    return { name };
  }
}
