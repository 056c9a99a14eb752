import { Body, Controller, Get, HttpStatus, Param, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../auth/access-token';
import { CurrentUser } from '../auth/current-user.decorator';
import { Scopes } from '../auth/scopes.decorator';
import { ApiAnswer, ApiErrors } from '../plumbing/http/api-answer.decorator';
import { TryReceiverDetailDto, TryReceiverDto, UpdateTryReceiverDto } from './dto/try-receiver.dto';
import { TryReceiversService } from './try-receivers.service';

const ID = { name: 'id', description: 'Id of the receiver.', schema: { type: 'string' as const, maxLength: 128 } };

@ApiTags('Webhooks')
@Controller('api/try-receivers')
export class TryReceiversController {
  constructor(private readonly receivers: TryReceiversService) {}

  @Post()
  @Scopes('webhooks:write')
  @ApiOperation({
    summary: 'Get a receiver to try deliveries with',
    description:
      'For an hour, one a user: a second call answers the one that is there. Only with the embedded PostgreSQL and a loopback HOST.',
  })
  @ApiAnswer(TryReceiverDto, { status: 201, description: 'The new receiver.' })
  @ApiAnswer(TryReceiverDto, { status: 200, description: 'The receiver that is there.' })
  @ApiErrors(404, 409, 413, 415)
  create(
    @CurrentUser() { userId }: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): TryReceiverDto {
    const { receiver, isNew } = this.receivers.create(userId);
    void reply.status(isNew ? HttpStatus.CREATED : HttpStatus.OK);
    return TryReceiverDto.at(originOf(request), receiver);
  }

  @Get(':id')
  @Scopes('webhooks:write')
  @ApiOperation({ summary: 'Read a receiver', description: 'With the last 20 requests, the newest first.' })
  @ApiParam(ID)
  @ApiAnswer(TryReceiverDetailDto, { description: 'The receiver and what it got.' })
  @ApiErrors(404)
  read(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ): TryReceiverDetailDto {
    return TryReceiverDetailDto.at(originOf(request), this.receivers.read(userId, id));
  }

  @Patch(':id')
  @Scopes('webhooks:write')
  @ApiOperation({ summary: 'Set what a receiver answers' })
  @ApiParam(ID)
  @ApiAnswer(TryReceiverDto, { description: 'The receiver.' })
  @ApiErrors(404, 413, 415)
  update(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @Body() { answer }: UpdateTryReceiverDto,
    @Req() request: FastifyRequest,
  ): TryReceiverDto {
    return TryReceiverDto.at(originOf(request), this.receivers.setAnswer(userId, id, answer));
  }
}

/** The address that this process listens on, which deliveries of this machine reach whatever the client has called. */
function originOf({ socket }: FastifyRequest): string {
  const { localAddress = '127.0.0.1', localPort } = socket;
  const host = localAddress.replace(/^::ffff:/, '');
  return `http://${host.includes(':') ? `[${host}]` : host}:${localPort}`;
}
