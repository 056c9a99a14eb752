import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn } from 'class-validator';
import { ToBoolean } from '../../infrastructure/validation/boolean.decorator';
import { IsEventFilter } from '../../infrastructure/validation/event-filter.decorator';
import { Optional } from '../../infrastructure/validation/optional.decorator';
import { PageQueryDto } from '../../infrastructure/pagination/dto/page-query.dto';

export class ListWebhooksDto extends PageQueryDto {
  /** True returns only active webhooks, false only inactive ones. */
  @Optional()
  @ToBoolean()
  @IsBoolean({ message: 'active must be true or false' })
  active?: boolean;

  /** Returns only webhooks that subscribe to this event, such as follower.gained. */
  @IsEventFilter()
  event?: string;

  /** `stats` adds statistics of the last 24 hours to each webhook. Requires the scope deliveries:read. */
  @Optional()
  @IsIn(['stats'])
  @ApiProperty({ enum: ['stats'], required: false })
  include?: 'stats';
}
