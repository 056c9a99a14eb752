import { Body, Controller, Get, HttpStatus, Param, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../auth/access-token';
import { CurrentUser, Scopes } from '../../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import { TestReceiverDetailDto, TestReceiverDto, UpdateTestReceiverDto } from './dto/try-receiver.dto';
import { TryReceiversService } from './test-receivers.service';

const ID = { name: 'id', description: 'Id of the test receiver.', schema: { type: 'string' as const, maxLength: 128 } };

@ApiTags('Test receivers')
@Controller('api/try-receivers')
export class TryReceiversController {
  constructor(private readonly receivers: TryReceiversService) {}

  @Post()
  @Scopes('webhooks:write')
  @ApiRoute(
    'Create a test receiver',
    'Each user has at most one test receiver, which expires after an hour; a second call returns the existing one. Available only with the embedded PostgreSQL, and a loopback HOST or LOCAL=true.',
  )
  @ApiAnswer(TestReceiverDto, 'The new test receiver.', { status: 201, headers: ['location'] })
  @ApiAnswer(TestReceiverDto, 'The existing test receiver.', { status: 200 })
  @ApiErrors(...BODY_ERRORS, 'not_found', 'test_receiver_limit_reached')
  createTestReceiver(
    @CurrentUser() { userId }: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): TestReceiverDto {
    const { receiver, isNew } = this.receivers.create(userId);
    if (isNew) void reply.status(HttpStatus.CREATED).header('location', `/api/try-receivers/${receiver.id}`);
    else void reply.status(HttpStatus.OK);
    return TestReceiverDto.at(originOf(request), receiver);
  }

  @Get(':id')
  @Scopes('webhooks:write')
  @ApiRoute('Read a test receiver', 'Includes the last 20 requests, newest first.')
  @ApiParam(ID)
  @ApiAnswer(TestReceiverDetailDto, 'The test receiver and its requests.')
  @ApiErrors('not_found')
  getTestReceiver(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ): TestReceiverDetailDto {
    return TestReceiverDetailDto.at(originOf(request), this.receivers.read(userId, id));
  }

  @Patch(':id')
  @Scopes('webhooks:write')
  @ApiRoute('Set the response of a test receiver')
  @ApiParam(ID)
  @ApiAnswer(TestReceiverDto, 'The test receiver.')
  @ApiErrors(...BODY_ERRORS, 'not_found')
  updateTestReceiver(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @Body() { answer }: UpdateTestReceiverDto,
    @Req() request: FastifyRequest,
  ): TestReceiverDto {
    return TestReceiverDto.at(originOf(request), this.receivers.setAnswer(userId, id, answer));
  }
}

/** Returns the loopback address of this process, even to a client that reaches it by another, as from outside a container. */
function originOf({ socket }: FastifyRequest): string {
  const { localAddress = '', localPort } = socket;
  const address = localAddress.replace(/^::ffff:/, '');
  const host = /^(127\.|::1$)/.test(address) ? address : '127.0.0.1';
  return `http://${host.includes(':') ? `[${host}]` : host}:${localPort}`;
}
