import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Principal } from '../../auth/access-token';
import { CurrentUser } from '../../auth/current-user.decorator';
import { RateLimit } from '../../auth/rate-limit.decorator';
import { Scopes } from '../../auth/scopes.decorator';
import { ApiAnswer, ApiErrors } from '../../plumbing/http/api-answer.decorator';
import { IdParam } from '../../plumbing/validation/id-param.decorator';
import { DeliveryDetailDto } from '../dto/delivery.dto';
import { TestWebhookDto } from './dto/test-webhook.dto';
import { WebhookTrialService } from './webhook-trial.service';

@ApiTags('Deliveries')
@Controller('api/webhooks/:id')
export class WebhookTrialController {
  constructor(private readonly trials: WebhookTrialService) {}

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
  @ApiErrors(404, 409, 413, 415)
  async test(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @Body() { event }: TestWebhookDto,
  ): Promise<DeliveryDetailDto> {
    const { delivery, body } = await this.trials.run(userId, id, event);
    return DeliveryDetailDto.with(delivery, body);
  }
}
