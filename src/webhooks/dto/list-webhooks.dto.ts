import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn } from 'class-validator';
import { ToBoolean } from '../../plumbing/validation/boolean.decorator';
import { IsEventFilter } from '../../plumbing/validation/event-filter.decorator';
import { Optional } from '../../plumbing/validation/optional.decorator';
import { PageQueryDto } from '../../plumbing/pagination/dto/page-query.dto';

export class ListWebhooksDto extends PageQueryDto {
  /** Only active, or only inactive webhooks. */
  @Optional()
  @ToBoolean()
  @IsBoolean({ message: 'active must be true or false' })
  active?: boolean;

  /** Only webhooks that subscribe to this event, such as follower.gained. */
  @IsEventFilter()
  event?: string;

  /** `stats`: each webhook with the numbers of its last 24 hours, which takes the scope deliveries:read. */
  @Optional()
  @IsIn(['stats'])
  @ApiProperty({ enum: ['stats'], required: false })
  include?: 'stats';
}
