import { Body, Controller, Get, HttpCode, HttpStatus, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../../auth/access-token';
import { CurrentUser, Scopes } from '../../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import { PageQueryDto } from '../../infrastructure/pagination/dto/page-query.dto';
import type { Page } from '../../infrastructure/pagination/page';
import { IdParam } from '../../infrastructure/validation/api-request.decorator';
import { DeliveryDto } from '../dto/delivery.dto';
import { RecoveryRequestDto, RecoveryResultDto, RecoveryDto } from './dto/recovery.dto';
import { RecoveriesService } from './recoveries.service';
import { RedeliveryService } from './redelivery.service';

@ApiTags('Deliveries')
@Controller('api/webhooks/:id')
export class RecoveriesController {
  constructor(
    private readonly redelivery: RedeliveryService,
    private readonly recoveries: RecoveriesService,
  ) {}

  @Post('recover')
  @HttpCode(202)
  @Scopes('webhooks:write')
  @ApiRoute(
    'Recover missed events of a webhook',
    'Sends again every event in the time range that the webhook subscribes to and that failed permanently, was canceled because the webhook was disabled, or was never sent because the webhook was inactive. With dryRun, only counts these events, of the newest 10,000 and for at most half a second.',
  )
  @ApiBody({
    type: RecoveryRequestDto,
    examples: {
      'count only': { value: { since: '2026-01-15T09:30:00Z', dryRun: true } },
      recover: { value: { since: '2026-01-15T09:30:00Z' } },
    },
  })
  @ApiAnswer(RecoveryResultDto, 'The recovery runs in the background; read it to see its progress.', { status: 202 })
  @ApiAnswer(RecoveryResultDto, 'With dryRun: the number of events that would be sent again.')
  @ApiErrors(...BODY_ERRORS, 'not_found', 'webhook_inactive', 'recovery_running')
  async recoverWebhook(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Body() body: RecoveryRequestDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RecoveryResultDto> {
    if (!body.dryRun) return RecoveryDto.from(await this.recoveries.start(userId, id, body));
    reply.status(HttpStatus.OK);
    const { count, complete } = await this.recoveries.count(userId, id, body);
    return { count, ...(!complete && { complete }) };
  }

  @Get('recoveries')
  @Scopes('deliveries:read')
  @ApiRoute(
    'List the recoveries of a webhook',
    'Newest first. The newest 1,000 are kept for RETENTION_DAYS after their end.',
  )
  @ApiAnswer(RecoveryDto, 'One page of recoveries.', { page: true })
  @ApiErrors('validation_failed', 'cursor_invalid', 'not_found')
  async listRecoveries(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Query() query: PageQueryDto,
  ): Promise<Page<RecoveryDto>> {
    return (await this.recoveries.list(userId, id, query)).map(RecoveryDto.from);
  }

  @Get('recoveries/:recoveryId')
  @Scopes('deliveries:read')
  @ApiRoute('Read the progress of a recovery')
  @ApiAnswer(RecoveryDto, 'The recovery.')
  @ApiErrors('validation_failed', 'not_found')
  async getRecovery(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @IdParam('recoveryId', 'Id of the recovery.') recoveryId: string,
  ): Promise<RecoveryDto> {
    return RecoveryDto.from(await this.recoveries.read(userId, id, recoveryId));
  }

  @Post('deliveries/:deliveryId/redeliver')
  @HttpCode(202)
  @Scopes('webhooks:write')
  @ApiRoute(
    'Redeliver an event',
    'Sends the event of this delivery again: the same bytes, retried like a first delivery. A delivery that waits for its retry or for a slot becomes due now instead.',
  )
  @ApiAnswer(DeliveryDto, 'The new attempt, pending.', { status: 202 })
  @ApiAnswer(DeliveryDto, 'The pending attempt, which is due now.')
  @ApiErrors(...BODY_ERRORS)
  @ApiErrors('not_found', 'delivery_pending', 'webhook_inactive', 'event_expired', 'test_not_redeliverable')
  async redeliverDelivery(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @IdParam('deliveryId', 'Id of a delivery of the event.') deliveryId: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeliveryDto> {
    const { delivery, isNew } = await this.redelivery.redeliver(userId, id, deliveryId);
    if (!isNew) reply.status(HttpStatus.OK);
    return DeliveryDto.from(delivery);
  }
}
