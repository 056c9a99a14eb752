import { ApiProperty } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { UUID } from '../../../plumbing/validation/uuid.pipe';
import { Optional } from '../../../plumbing/validation/optional.decorator';
import { DELIVERY_STATUSES, type DeliveryStatus, type Trigger, TRIGGERS } from '../../delivery.entity';
import { EventQueryDto } from './event-query.dto';

export class DeliveryQueryDto extends EventQueryDto {
  /** Only deliveries with this status. */
  @Optional()
  @IsIn(DELIVERY_STATUSES)
  @ApiProperty({ enum: DELIVERY_STATUSES, required: false })
  status?: DeliveryStatus;

  /** Only deliveries of this event. */
  @Optional()
  @ApiProperty({ format: 'uuid', required: false })
  @Matches(UUID, { message: 'eventId must be a UUID' })
  eventId?: string;

  /** Only deliveries that came about like this. */
  @Optional()
  @IsIn(TRIGGERS)
  @ApiProperty({ enum: TRIGGERS, required: false })
  trigger?: Trigger;
}
