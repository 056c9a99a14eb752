import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { LivenessDto, ReadinessDto } from './dto/health.dto';
import { HealthService, type Readiness } from './health.service';

@ApiTags('Health')
@Controller('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  @Get('live')
  @ApiOperation({ summary: 'Is the process alive?', description: 'Does not depend on any store.' })
  @ApiOkResponse({ type: LivenessDto, description: 'It is alive.' })
  getLiveness(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('ready')
  @ApiOperation({ summary: 'Can the process do its work?', description: 'Names each unhealthy component.' })
  @ApiOkResponse({ type: ReadinessDto, description: 'It is ready.' })
  @ApiServiceUnavailableResponse({ type: ReadinessDto, description: 'A component is unhealthy.' })
  async getReadiness(@Res({ passthrough: true }) reply: FastifyReply): Promise<Readiness> {
    const readiness = await this.health.readiness();
    reply.status(readiness.status === 'ready' ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return readiness;
  }
}
