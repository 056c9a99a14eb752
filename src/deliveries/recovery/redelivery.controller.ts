import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Principal } from '../../auth/access-token';
import { CurrentUser } from '../../auth/current-user.decorator';
import { Scopes } from '../../auth/scopes.decorator';
import { ApiAnswer, ApiErrors } from '../../plumbing/http/api-answer.decorator';
import { IdParam } from '../../plumbing/validation/id-param.decorator';
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
    summary: 'Redeliver an event',
    description: 'Sends the event of this delivery once more: the same bytes, retried like a first delivery.',
  })
  @ApiAnswer(DeliveryDto, { status: 202, description: 'The new attempt, pending.' })
  @ApiErrors(404, 409, 413, 415)
  async redeliver(
    @CurrentUser() { userId }: Principal,
    @IdParam('id', 'Id of the webhook.') id: string,
    @IdParam('deliveryId', 'Id of a delivery of the event.') deliveryId: string,
  ): Promise<DeliveryDto> {
    return DeliveryDto.from(await this.redelivery.redeliver(userId, id, deliveryId));
  }
}
