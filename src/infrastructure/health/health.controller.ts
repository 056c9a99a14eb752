import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { HealthService, type Readiness } from './health.service';

const READINESS_SCHEMA = {
  type: 'object',
  required: ['status', 'checks'],
  properties: {
    status: { type: 'string', enum: ['ready', 'not ready'] },
    checks: {
      type: 'object',
      additionalProperties: { type: 'string', enum: ['well', 'not well'] },
      example: { postgres: 'well', queue: 'well' },
    },
    details: {
      type: 'object',
      description: 'A message for each unhealthy component, where the cause is known.',
      additionalProperties: { type: 'string' },
      example: { postgres: 'The database takes no writes.' },
    },
  },
};

@ApiTags('Health')
@Controller('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  @Get('live')
  @ApiOperation({ summary: 'Is the process alive?', description: 'Does not depend on any store.' })
  @ApiOkResponse({
    schema: { type: 'object', required: ['status'], properties: { status: { type: 'string', enum: ['live'] } } },
  })
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('ready')
  @ApiOperation({ summary: 'Can the process do its work?', description: 'Names each unhealthy component.' })
  @ApiOkResponse({ schema: READINESS_SCHEMA })
  @ApiServiceUnavailableResponse({ schema: READINESS_SCHEMA })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<Readiness> {
    const readiness = await this.health.readiness();
    reply.status(readiness.status === 'ready' ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return readiness;
  }
}
