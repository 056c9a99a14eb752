import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString, IsUUID, MaxLength } from 'class-validator';
import { Optional } from '../../validation/optional.decorator';
import { PageQueryDto } from '../../pagination/dto/page-query.dto';
import { IsTime } from '../../validation/time.decorator';
import { DELIVERY_STATUSES, type DeliveryStatus, type Trigger, TRIGGERS } from '../delivery.entity';

export class DeliveryQueryDto extends PageQueryDto {
  /** Only deliveries with this status. */
  @Optional()
  @IsIn(DELIVERY_STATUSES)
  @ApiProperty({ enum: DELIVERY_STATUSES, required: false })
  status?: DeliveryStatus;

  /** Only deliveries of events with this name, such as follower.gained. */
  @Optional()
  @IsString()
  @MaxLength(128)
  event?: string;

  /** Only deliveries of this event. */
  @Optional()
  @IsUUID()
  eventId?: string;

  /** Only deliveries that came about like this. */
  @Optional()
  @IsIn(TRIGGERS)
  @ApiProperty({ enum: TRIGGERS, required: false })
  trigger?: Trigger;

  /** Only deliveries created at this time or later, such as 2026-01-15T09:30:00Z. */
  @IsTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  since?: Date;

  /** Only deliveries created before this time, such as 2026-01-16T09:30:00+01:00. */
  @IsTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  until?: Date;
}
