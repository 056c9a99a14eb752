import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Principal } from '../../auth/access-token';
import { CurrentUser } from '../../auth/current-user.decorator';
import { WaitsWith } from '../../auth/waiting.decorator';
import { Scopes } from '../../auth/scopes.decorator';
import { ConnectionSignal } from '../../plumbing/http/connection-signal.decorator';
import { ApiAnswer, ApiErrors } from '../../plumbing/http/api-answer.decorator';
import type { Page } from '../../plumbing/pagination/page';
import { IdParam } from '../../plumbing/validation/id-param.decorator';
import { DeliveryDetailDto, DeliveryDto } from '../dto/delivery.dto';
import { DeliveryListsService } from './delivery-lists.service';
import { DeliveryLogService } from './delivery-log.service';
import { DeliveryQueryDto } from './dto/delivery-query.dto';

const CHANGES =
  'With `changedAfter` those whose status is new, in the order of the changes; with `waitSeconds` it waits for them, five requests of a user at once.';

@ApiTags('Deliveries')
@Controller('api')
export class DeliveryLogController {
  constructor(
    private readonly lists: DeliveryListsService,
    private readonly log: DeliveryLogService,
  ) {}

  @Get('webhooks/:id/deliveries')
  @Scopes('deliveries:read')
  @ApiOperation({
    summary: 'Read the delivery log of a webhook',
    description: `One row per attempt, newest first. ${CHANGES}`,
  })
  @WaitsWith('changedAfter')
  @ApiAnswer(DeliveryDto, { page: true, description: 'One page of deliveries.' })
  @ApiErrors(404)
  async list(
    @CurrentUser() user: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Query() query: DeliveryQueryDto,
    @ConnectionSignal() signal: AbortSignal,
  ): Promise<Page<DeliveryDto>> {
    return (await this.lists.list(user, id, query, signal)).map(DeliveryDto.from);
  }

  @Get('webhooks/:id/deliveries/:deliveryId')
  @Scopes('deliveries:read')
  @ApiOperation({ summary: 'Read a delivery', description: 'With exactly what was sent and what came back.' })
  @ApiAnswer(DeliveryDetailDto, { description: 'The delivery with its request and response.' })
  @ApiErrors(404)
  async read(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @IdParam('deliveryId', 'Id of the delivery.') deliveryId: string,
  ): Promise<DeliveryDetailDto> {
    const { delivery, body } = await this.log.read(userId, id, deliveryId);
    return DeliveryDetailDto.with(delivery, body);
  }

  @Get('deliveries')
  @Scopes('deliveries:read')
  @ApiOperation({
    summary: 'Read the delivery log of all your webhooks',
    description: `One row per attempt, newest first, those of deleted webhooks included. ${CHANGES}`,
  })
  @WaitsWith('changedAfter')
  @ApiAnswer(DeliveryDto, { page: true, description: 'One page of deliveries.' })
  async listAll(
    @CurrentUser() user: Principal,
    @Query() query: DeliveryQueryDto,
    @ConnectionSignal() signal: AbortSignal,
  ): Promise<Page<DeliveryDto>> {
    return (await this.lists.listAll(user, query, signal)).map(DeliveryDto.from);
  }

  @Get('deliveries/:deliveryId')
  @Scopes('deliveries:read')
  @ApiOperation({
    summary: 'Read a delivery by its id alone',
    description: 'The same without the id of its webhook, also when the webhook is deleted.',
  })
  @ApiAnswer(DeliveryDetailDto, { description: 'The delivery with its request and response.' })
  @ApiErrors(404)
  async readOne(
    @CurrentUser() { userId }: Principal,
    @IdParam('deliveryId', 'Id of the delivery.') deliveryId: string,
  ): Promise<DeliveryDetailDto> {
    const { delivery, body } = await this.log.readOwn(userId, deliveryId);
    return DeliveryDetailDto.with(delivery, body);
  }
}
