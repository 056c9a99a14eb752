import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Principal } from '../../auth/access-token';
import { CurrentUser } from '../../auth/current-user.decorator';
import { Scopes } from '../../auth/scopes.decorator';
import { ApiAnswer, ApiErrors } from '../../plumbing/http/api-answer.decorator';
import type { Page } from '../../plumbing/pagination/page';
import { IdParam } from '../../plumbing/validation/id-param.decorator';
import { DeliveryDetailDto, DeliveryDto } from '../dto/delivery.dto';
import { DeliveryLogService } from './delivery-log.service';
import { DeliveryQueryDto } from './dto/delivery-query.dto';

@ApiTags('Deliveries')
@Controller('api')
export class DeliveryLogController {
  constructor(private readonly log: DeliveryLogService) {}

  @Get('webhooks/:id/deliveries')
  @Scopes('deliveries:read')
  @ApiOperation({ summary: 'Read the delivery log of a webhook', description: 'One row per attempt, newest first.' })
  @ApiAnswer(DeliveryDto, { page: true, description: 'One page of deliveries.' })
  @ApiErrors(404)
  async list(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Query() query: DeliveryQueryDto,
  ): Promise<Page<DeliveryDto>> {
    return (await this.log.list(userId, id, query)).map(DeliveryDto.from);
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
    description: 'One row per attempt, newest first, those of deleted webhooks included.',
  })
  @ApiAnswer(DeliveryDto, { page: true, description: 'One page of deliveries.' })
  async listAll(@CurrentUser() { userId }: Principal, @Query() query: DeliveryQueryDto): Promise<Page<DeliveryDto>> {
    return (await this.log.listAll(userId, query)).map(DeliveryDto.from);
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
