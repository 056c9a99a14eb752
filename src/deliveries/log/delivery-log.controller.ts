import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Principal } from '../../auth/access-token';
import { CurrentUser, HasOwnShare, MANAGEMENT, RateLimit, Scopes, withQuery } from '../../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute } from '../../infrastructure/http/api-answer.decorator';
import { ConnectionSignal } from '../../infrastructure/http/connection-signal.decorator';
import type { Page } from '../../infrastructure/pagination/page';
import { IdParam } from '../../infrastructure/validation/api-request.decorator';
import { DeliveryDetailDto, DeliveryDto } from '../dto/delivery.dto';
import { DeliveryLogService } from './delivery-log.service';
import { DeliveryCountDto, DeliveryCountQueryDto, DeliveryQueryDto } from './dto/delivery-query.dto';

const CHANGES =
  'With `changedAfter`, returns deliveries whose status has changed, in the order of the changes. With `waitSeconds`, waits for the first change; at most five requests per user may wait.';

@ApiTags('Deliveries')
@Controller('api')
export class DeliveryLogController {
  constructor(private readonly log: DeliveryLogService) {}

  @Get('webhooks/:id/deliveries')
  @Scopes('deliveries:read')
  @ApiRoute('Read the delivery log of a webhook', `One row per attempt, newest first. ${CHANGES}`)
  @HasOwnShare(withQuery('changedAfter'))
  @ApiAnswer(DeliveryDto, 'One page of deliveries.', { page: true })
  @ApiErrors('validation_failed', 'cursor_invalid', 'not_found')
  async listWebhookDeliveries(
    @CurrentUser() user: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Query() query: DeliveryQueryDto,
    @ConnectionSignal() signal: AbortSignal,
  ): Promise<Page<DeliveryDto>> {
    return (await this.log.list(user, id, query, signal)).map(DeliveryDto.from);
  }

  @Get('webhooks/:id/deliveries/:deliveryId')
  @Scopes('deliveries:read')
  @ApiRoute('Read a delivery', 'Includes the exact request and response.')
  @ApiAnswer(DeliveryDetailDto, 'The delivery with its request and response.')
  @ApiErrors('validation_failed', 'not_found')
  async getWebhookDelivery(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @IdParam('deliveryId', 'Id of the delivery.') deliveryId: string,
  ): Promise<DeliveryDetailDto> {
    const { delivery, body } = await this.log.read(userId, id, deliveryId);
    return DeliveryDetailDto.with(delivery, body);
  }

  @Get('deliveries')
  @Scopes('deliveries:read')
  @ApiRoute(
    'Read the delivery log of all your webhooks',
    `One row per attempt, newest first, including those of deleted webhooks. ${CHANGES}`,
  )
  @HasOwnShare(withQuery('changedAfter'))
  @ApiAnswer(DeliveryDto, 'One page of deliveries.', { page: true })
  @ApiErrors('validation_failed', 'cursor_invalid')
  async listDeliveries(
    @CurrentUser() user: Principal,
    @Query() query: DeliveryQueryDto,
    @ConnectionSignal() signal: AbortSignal,
  ): Promise<Page<DeliveryDto>> {
    return (await this.log.listAll(user, query, signal)).map(DeliveryDto.from);
  }

  @Get('deliveries/count')
  @RateLimit({ ...MANAGEMENT, weigh: () => 10 })
  @Scopes('deliveries:read')
  @ApiRoute(
    'Count deliveries',
    'Reads at most 10,000 deliveries, newest first. Counts like ten requests against the rate limit.',
  )
  @ApiAnswer(DeliveryCountDto, 'The number of deliveries.')
  @ApiErrors('validation_failed')
  async countDeliveries(
    @CurrentUser() { userId }: Principal,
    @Query() query: DeliveryCountQueryDto,
  ): Promise<DeliveryCountDto> {
    return this.log.count(userId, query);
  }

  @Get('deliveries/:deliveryId')
  @Scopes('deliveries:read')
  @ApiRoute('Read a delivery by its id only', 'Requires no webhook id and works even after the webhook was deleted.')
  @ApiAnswer(DeliveryDetailDto, 'The delivery with its request and response.')
  @ApiErrors('validation_failed', 'not_found')
  async getDelivery(
    @CurrentUser() { userId }: Principal,
    @IdParam('deliveryId', 'Id of the delivery.') deliveryId: string,
  ): Promise<DeliveryDetailDto> {
    const { delivery, body } = await this.log.readOwn(userId, deliveryId);
    return DeliveryDetailDto.with(delivery, body);
  }
}
