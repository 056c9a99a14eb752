import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Principal } from '../auth/access-token';
import { CurrentUser } from '../auth/current-user.decorator';
import { RateLimit } from '../auth/rate-limit.decorator';
import { Scopes } from '../auth/scopes.decorator';
import { ApiAnswer, ApiErrors } from '../http/api-answer.decorator';
import { IdParam } from '../validation/id-param.decorator';
import type { Page } from '../pagination/page';
import { DeliveryLogService } from './delivery-log.service';
import { DeliveryDetailDto, DeliveryDto } from './dto/delivery.dto';
import { DeliveryQueryDto } from './dto/delivery-query.dto';
import { TestWebhookDto } from './dto/test-webhook.dto';
import { RedeliveryService } from './redelivery.service';
import { WebhookTestService } from './webhook-test.service';

@ApiTags('Deliveries')
@Controller('api/webhooks/:id')
export class DeliveriesController {
  constructor(
    private readonly log: DeliveryLogService,
    private readonly redelivery: RedeliveryService,
    private readonly tests: WebhookTestService,
  ) {}

  @Get('deliveries')
  @Scopes('deliveries:read')
  @ApiOperation({ summary: 'Read the delivery log of a webhook', description: 'One row per attempt, newest first.' })
  @ApiAnswer(DeliveryDto, { page: true, description: 'One page of deliveries.' })
  @ApiErrors(400, 404)
  async list(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Query() query: DeliveryQueryDto,
  ): Promise<Page<DeliveryDto>> {
    return (await this.log.list(userId, id, query)).map(DeliveryDto.from);
  }

  @Get('deliveries/:deliveryId')
  @Scopes('deliveries:read')
  @ApiOperation({ summary: 'Read a delivery', description: 'With exactly what was sent and what came back.' })
  @ApiAnswer(DeliveryDetailDto, { description: 'The delivery with its request and response.' })
  @ApiErrors(400, 404)
  async read(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @IdParam('deliveryId', 'Id of the delivery.') deliveryId: string,
  ): Promise<DeliveryDetailDto> {
    const { delivery, body } = await this.log.read(userId, id, deliveryId);
    return DeliveryDetailDto.with(delivery, body);
  }

  @Post('deliveries/:deliveryId/redeliver')
  @HttpCode(202)
  @Scopes('webhooks:write')
  @ApiOperation({
    summary: 'Redeliver an event',
    description: 'Sends the event of this delivery once more: the same bytes, retried like a first delivery.',
  })
  @ApiAnswer(DeliveryDto, { status: 202, description: 'The new attempt, pending.' })
  @ApiErrors(400, 404, 409, 413, 415)
  async redeliver(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @IdParam('deliveryId', 'Id of a delivery of the event.') deliveryId: string,
  ): Promise<DeliveryDto> {
    return DeliveryDto.from(await this.redelivery.redeliver(userId, id, deliveryId));
  }

  @Post('test')
  @HttpCode(200)
  @RateLimit({ limits: ['manage', 'test'] })
  @Scopes('webhooks:write')
  @ApiOperation({
    summary: 'Test a webhook',
    description: 'Sends a signed test payload now and answers with the outcome, whether or not the receiver was happy.',
  })
  @ApiBody({ type: TestWebhookDto, required: false })
  @ApiAnswer(DeliveryDetailDto, { description: 'What was sent and what came back.' })
  @ApiErrors(400, 404, 409, 413, 415)
  async test(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Body() { event }: TestWebhookDto,
  ): Promise<DeliveryDetailDto> {
    const { delivery, body } = await this.tests.run(userId, id, event);
    return DeliveryDetailDto.with(delivery, body);
  }
}
