import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Principal } from '../auth/access-token';
import { CurrentUser } from '../auth/current-user.decorator';
import { Scopes } from '../auth/scopes.decorator';
import { ApiAnswer, ApiErrors } from '../http/api-answer.decorator';
import type { Page } from '../pagination/page';
import { DeliveryLogService } from './delivery-log.service';
import { DeliveryDto } from './dto/delivery.dto';
import { DeliveryQueryDto } from './dto/delivery-query.dto';

@ApiTags('Deliveries')
@Controller('api/deliveries')
export class DeliveryLogController {
  constructor(private readonly log: DeliveryLogService) {}

  @Get()
  @Scopes('deliveries:read')
  @ApiOperation({
    summary: 'Read the delivery log of all your webhooks',
    description: 'One row per attempt, newest first, those of deleted webhooks included.',
  })
  @ApiAnswer(DeliveryDto, { page: true, description: 'One page of deliveries.' })
  @ApiErrors(400)
  async list(@CurrentUser() { userId }: Principal, @Query() query: DeliveryQueryDto): Promise<Page<DeliveryDto>> {
    return (await this.log.listAll(userId, query)).map(DeliveryDto.from);
  }
}
