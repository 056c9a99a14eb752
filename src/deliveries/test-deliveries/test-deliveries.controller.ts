import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import type { Principal } from '../../auth/access-token';
import { CurrentUser, HasOwnShare, RateLimit, Scopes } from '../../auth/route.decorator';
import { ApiAnswer, ApiErrors, ApiRoute, BODY_ERRORS } from '../../infrastructure/http/api-answer.decorator';
import { IdParam } from '../../infrastructure/validation/api-request.decorator';
import { DeliveryDetailDto } from '../dto/delivery.dto';
import { TestDeliveryDto, TestDeliveryRequestDto } from './dto/test-webhook.dto';
import { TestDeliveriesService } from './test-deliveries.service';

@ApiTags('Webhooks')
@Controller('api/webhooks/:id')
export class TestDeliveriesController {
  constructor(private readonly tests: TestDeliveriesService) {}

  @Post('test')
  @HttpCode(200)
  @RateLimit({ limits: ['manage', 'test'] })
  // It waits for its receiver.
  @HasOwnShare(() => true)
  @Scopes('webhooks:write')
  @ApiRoute(
    'Test a webhook',
    'Sends a signed test payload now and returns the outcome, whether or not the receiver accepted it.',
  )
  @ApiBody({ type: TestDeliveryRequestDto, required: false })
  @ApiAnswer(TestDeliveryDto, 'The test delivery with its request and response.')
  @ApiErrors(...BODY_ERRORS, 'not_found', 'test_running', 'kind_mismatch')
  async testWebhook(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Body() { event }: TestDeliveryRequestDto,
  ): Promise<TestDeliveryDto> {
    const { delivery, body, matchesFilter } = await this.tests.run(userId, id, event);
    return { ...DeliveryDetailDto.with(delivery, body), ...(matchesFilter !== undefined && { matchesFilter }) };
  }
}
