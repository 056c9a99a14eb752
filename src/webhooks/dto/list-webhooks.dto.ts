import { ApiProperty, PickType } from '@nestjs/swagger';
import { ArrayMaxSize, IsBoolean, IsIn, Matches } from 'class-validator';
import {
  IsEventFilter,
  Optional,
  patternOf,
  ToBoolean,
  ToList,
} from '../../infrastructure/validation/api-field.decorator';
import { PageQueryDto } from '../../infrastructure/pagination/dto/page-query.dto';
import { MAX_METADATA, METADATA_PAIR } from '../metadata';

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

  /** Returns only webhooks with this text in their URL, description or externalId, in upper or lower case. */
  @ApiProperty({ required: false, minLength: 1, maxLength: 128, pattern: patternOf(SEARCHABLE) })
  @Optional()
  @Matches(SEARCHABLE, { message: 'q must be 1 to 128 characters without control characters' })
  q?: string;

  /** Returns only webhooks with this metadata, such as `team:billing`. Of several pairs, all must match. */
  @Optional()
  @ToList()
  @ArrayMaxSize(MAX_METADATA)
  @Matches(METADATA_PAIR, { each: true, message: 'metadata must be a name and a value such as team:billing' })
  @ApiProperty({
    type: 'array',
    items: { type: 'string', pattern: patternOf(METADATA_PAIR) },
    minItems: 1,
    maxItems: MAX_METADATA,
    required: false,
  })
  metadata?: string[];

  /** `stats` adds statistics of the last 24 hours to each webhook. Requires the scope deliveries:read. */
  @Optional()
  @IsIn(['stats'])
  @ApiProperty({ enum: ['stats'], required: false })
  include?: 'stats';
}

export class ReadWebhookDto extends PickType(ListWebhooksDto, ['include']) {}
