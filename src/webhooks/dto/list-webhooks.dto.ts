import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn, Matches } from 'class-validator';
import { patternOf } from '../../infrastructure/validation/api-field.decorator';
import { ToBoolean } from '../../infrastructure/validation/boolean.decorator';
import { IsEventFilter } from '../../infrastructure/validation/event-filter.decorator';
import { Optional } from '../../infrastructure/validation/optional.decorator';
import { PageQueryDto } from '../../infrastructure/pagination/dto/page-query.dto';

/** PostgreSQL rejects NUL in a text, even in a comparison. */
const SEARCHABLE = /^[^\p{Cc}\p{Cs}]{1,128}$/u;

export class ListWebhooksDto extends PageQueryDto {
  /** True returns only active webhooks, false only inactive ones. */
  @Optional()
  @ToBoolean()
  @IsBoolean({ message: 'active must be true or false' })
  active?: boolean;

  /** Returns only webhooks that subscribe to this event, such as follower.gained. */
  @IsEventFilter()
  event?: string;

  /** Returns only webhooks with this text in their URL or description, in upper or lower case. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 128, pattern: patternOf(SEARCHABLE) })
  @Optional()
  @Matches(SEARCHABLE, { message: 'q must be 1 to 128 characters without control characters' })
  q?: string;

  /** `stats` adds statistics of the last 24 hours to each webhook. Requires the scope deliveries:read. */
  @Optional()
  @IsIn(['stats'])
  @ApiProperty({ enum: ['stats'], required: false })
  include?: 'stats';
}
