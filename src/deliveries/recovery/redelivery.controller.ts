import { Controller, HttpCode, HttpStatus, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Principal } from '../../auth/access-token';
import { CurrentUser } from '../../auth/current-user.decorator';
import { Scopes } from '../../auth/scopes.decorator';
import { ApiAnswer, ApiErrors, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import { IdParam } from '../../infrastructure/validation/id-param.decorator';
import { DeliveryDto } from '../dto/delivery.dto';
import { RedeliveryService } from './redelivery.service';

@ApiTags('Deliveries')
@Controller('api/webhooks/:id')
export class RedeliveryController {
  constructor(private readonly redelivery: RedeliveryService) {}

  @Post('deliveries/:deliveryId/redeliver')
  @HttpCode(202)
  @Scopes('webhooks:write')
  @ApiOperation({
    operationId: 'redeliverDelivery',
    summary: 'Redeliver an event',
    description:
      'Sends the event of this delivery again: the same bytes, retried like a first delivery. A delivery that waits for its retry or for a slot becomes due now instead.',
  })
  @ApiAnswer(DeliveryDto, { status: 202, description: 'The new attempt, pending.' })
  @ApiAnswer(DeliveryDto, { description: 'The pending attempt, which is due now.' })
  @ApiErrors(
    ...BODY_ERRORS,
    'not_found',
    'delivery_pending',
    'webhook_inactive',
    'event_expired',
    'test_not_redeliverable',
  )
  async redeliver(
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
