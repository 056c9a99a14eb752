import { Controller, Delete, Get, HttpStatus, Param, Post, Put, Query, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { EVENT_NAME, EventCatalogue, type KnownEventType, TEST_EVENT_TYPE } from 'webhook-notification/catalogue';
import type { Principal } from '../../auth/access-token';
import { CurrentUser, Scopes } from '../../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import { ParsedBody } from '../../infrastructure/validation/api-request.decorator';
import type { BodyRule } from '../../infrastructure/http/json-body.setup';
import {
  CreateEventTypeDto,
  type Declaration,
  DeletedEventTypeDto,
  DeleteEventTypeQueryDto,
  EventTypeDto,
  type EventTypeRequest,
  parseEventType,
  parseNewEventType,
  EventTypeDeclarationDto,
  SaveEventTypeQueryDto,
} from './dto/event-type.dto';
import { eventTypeList } from './event-type-list';
import { EventTypesService } from './event-types.service';
import { StoredTypesService } from '../stored-types.service';
import { ApiError, MESSAGES } from '../../infrastructure/errors/api-error';

const NAME = {
  name: 'name',
  description: 'Name of the event type.',
  schema: { type: 'string' as const, maxLength: 128, pattern: EVENT_NAME.source },
};

const EXAMPLE = {
  description: 'An invoice was paid.',
  schema: { type: 'object', required: ['cents'], properties: { cents: { type: 'integer', minimum: 0 } } },
  example: { cents: 4900 },
};

const pathOf = (name: string): string => `/api/event-types/${name}`;

/** The event type of test deliveries, which webhooks cannot subscribe to. */
const TEST: KnownEventType = { ...TEST_EVENT_TYPE, source: 'builtin', application: null };

@ApiTags('Events')
@Controller('api/event-types')
export class EventTypesController {
  private readonly listOf = eventTypeList(EventTypeDto.from);

  constructor(
    private readonly catalogue: EventCatalogue,
    private readonly types: EventTypesService,
    private readonly stored: StoredTypesService,
  ) {}

  @Get()
  @Scopes()
  @ApiRoute(
    'List event types',
    'Returns all events that receivers get. Webhooks can subscribe to all of them except webhook.test.',
  )
  @ApiAnswer(EventTypeDto, 'Name, description, JSON Schema and example of each event type.', { list: true })
  listEventTypes(@Res({ passthrough: true }) reply: FastifyReply): Buffer {
    void reply.type('application/json; charset=utf-8');
    return this.listOf([...this.catalogue.subscribable, TEST]);
  }

  @Post()
  @Scopes('event-types:manage')
  @RouteConfig({ body: 'event-type' } satisfies BodyRule)
  @ApiRoute(
    'Declare an event type',
    'Declares it for all users. All processes of the service know it within two seconds.',
  )
  @ApiBody({ type: CreateEventTypeDto })
  @ApiAnswer(EventTypeDto, 'The new event type.', { status: 201, headers: ['location'] })
  @ApiErrors(...BODY_ERRORS, 'event_type_exists', 'event_type_taken', 'event_type_limit_reached')
  async createEventType(
    @ParsedBody(parseNewEventType) type: Declaration,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EventTypeDto> {
    const created = await this.types.create(type);
    void reply.header('location', pathOf(created.name));
    return EventTypeDto.from(created);
  }

  @Get(':name')
  @Scopes()
  @ApiRoute('Read an event type', 'Its schema describes the data of its events.')
  @ApiParam(NAME)
  @ApiAnswer(EventTypeDto, 'The event type.')
  @ApiErrors('not_found')
  async getEventType(@Param('name') name: string): Promise<EventTypeDto> {
    await this.stored.lookUp([name]);
    const type = [...this.catalogue.subscribable, TEST].find((known) => known.name === name);
    if (!type) throw new ApiError('not_found', MESSAGES.eventTypeNotFound);
    return EventTypeDto.from(type);
  }

  @Put(':name')
  @Scopes('event-types:manage')
  @RouteConfig({ body: 'event-type' } satisfies BodyRule)
  @ApiRoute(
    'Declare or change an event type',
    'Changes only event types that were declared over the API, with the same application; without an application, only those that have none. An application belongs to the user whose token declares its first type; other users need the scope users:manage. A Nest application calls this route when it starts, to declare its types.',
  )
  @ApiParam(NAME)
  @ApiBody({ type: EventTypeDeclarationDto, examples: { 'without an application': { value: EXAMPLE } } })
  @ApiAnswer(EventTypeDto, 'The new event type.', { status: 201, headers: ['location'] })
  @ApiAnswer(EventTypeDto, 'The updated event type.', { status: 200 })
  @ApiErrors(...BODY_ERRORS, 'event_type_differs', 'event_type_taken', 'event_type_owned', 'event_type_limit_reached')
  async saveEventType(
    @CurrentUser() user: Principal,
    @Param('name') name: string,
    @Query() { force = false }: SaveEventTypeQueryDto,
    @ParsedBody(parseEventType) declared: EventTypeRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EventTypeDto> {
    const { type, isNew } = await this.types.save(user, { ...declared, name }, force);
    if (isNew) void reply.status(HttpStatus.CREATED).header('location', pathOf(name));
    else void reply.status(HttpStatus.OK);
    return EventTypeDto.from(type);
  }

  @Delete(':name')
  @Scopes('event-types:manage')
  @ApiRoute(
    'Delete an event type',
    'Its events can no longer be published. Webhooks keep its name, and it can be declared again.',
  )
  @ApiParam(NAME)
  @ApiAnswer(DeletedEventTypeDto, 'The name of the deleted event type.')
  @ApiErrors(...BODY_ERRORS, 'not_found', 'event_type_taken', 'event_type_owned')
  async deleteEventType(
    @CurrentUser() user: Principal,
    @Param('name') name: string,
    @Query() { application }: DeleteEventTypeQueryDto,
  ): Promise<DeletedEventTypeDto> {
    await this.types.remove(user, name, application ?? null);
    return { name };
  }
}
