import { ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { Optional } from '../../validation/optional.decorator';
import { PageQueryDto } from '../../pagination/dto/page-query.dto';
import { IsTime } from '../../validation/time.decorator';

export class EventQueryDto extends PageQueryDto {
  /** Only events with this name, such as follower.gained. */
  @Optional()
  @IsString()
  @MaxLength(128)
  event?: string;

  /** Only events published at this time or later, such as 2026-01-15T09:30:00Z. */
  @IsTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  since?: Date;

  /** Only events published before this time, such as 2026-01-16T09:30:00+01:00. */
  @IsTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  until?: Date;
}
