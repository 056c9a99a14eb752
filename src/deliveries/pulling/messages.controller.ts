import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { Principal } from '../../auth/access-token';
import { CurrentUser, HasOwnShare, Scopes } from '../../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import { ConnectionSignal } from '../../infrastructure/http/connection-signal.decorator';
import { IdParam, ParsedBody } from '../../infrastructure/validation/api-request.decorator';
import { type Acknowledgement, parseAcknowledgements } from './acknowledgement';
import { AcknowledgedLeasesDto, AcknowledgementDto, LeaseRequestDto, MessageDto } from './dto/message.dto';
import { MessagesService } from './messages.service';

const leaseId = `0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90.${'4f'.repeat(16)}`;
const EXAMPLES = {
  'a success': { value: { succeeded: [leaseId] } },
  'a failure': { value: { failed: [{ leaseId, message: 'The order is not known yet.' }] } },
};

@ApiTags('Deliveries')
@Controller('api/webhooks/:id/messages')
export class MessagesController {
  constructor(private readonly messages: MessagesService) {}

  @Post('lease')
  @HttpCode(200)
  // It may wait for messages.
  @HasOwnShare(() => true)
  @Scopes('messages:pull')
  @ApiRoute(
    'Lease messages of a pull webhook',
    'Begins attempts and returns them, the oldest due first. Acknowledge each before its lease ends. With `waitSeconds`, waits for the first message; at most ten requests per webhook and 20 per user may wait.',
  )
  @ApiBody({ type: LeaseRequestDto, required: false })
  @ApiAnswer(MessageDto, 'The leased messages; none if none is due.', { list: true })
  @ApiErrors(...BODY_ERRORS, 'not_found', 'kind_mismatch')
  async leaseMessages(
    @CurrentUser() user: Principal,
    @IdParam('id', 'Id of a pull webhook.') id: string,
    @Body() wanted: LeaseRequestDto,
    @ConnectionSignal() signal: AbortSignal,
  ): Promise<MessageDto[]> {
    return this.messages.lease(user, id, wanted, signal);
  }

  @Post('ack')
  @HttpCode(200)
  @Scopes('messages:pull')
  @ApiRoute(
    'Acknowledge leased messages',
    'Ends attempts: those that failed are retried by the plan of the webhook. A lease counts until its attempt has an outcome.',
  )
  @ApiBody({ type: AcknowledgementDto, examples: EXAMPLES })
  @ApiAnswer(AcknowledgedLeasesDto, 'What became of each lease.')
  @ApiErrors(...BODY_ERRORS, 'not_found', 'kind_mismatch')
  async acknowledgeMessages(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of a pull webhook.') id: string,
    @ParsedBody(parseAcknowledgements) all: Acknowledgement[],
  ): Promise<AcknowledgedLeasesDto> {
    return this.messages.acknowledge(userId, id, all);
  }
}
