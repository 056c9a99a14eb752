import { ApiProperty } from '@nestjs/swagger';
import { PageQueryDto } from '../../../plumbing/pagination/dto/page-query.dto';
import { IsEventFilter } from '../../../plumbing/validation/event-filter.decorator';
import { IsOptionalTime } from '../../../plumbing/validation/time.decorator';

/** What events, and the deliveries that carry them, are filtered by. */
export class EventQueryDto extends PageQueryDto {
  /** Only what concerns events with this name, such as follower.gained. */
  @IsEventFilter()
  event?: string;

  /** Only what was created at this time or later, such as 2026-01-15T09:30:00Z. */
  @IsOptionalTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  since?: Date;

  /** Only what was created before this time, such as 2026-01-16T09:30:00+01:00. */
  @IsOptionalTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  until?: Date;
}
