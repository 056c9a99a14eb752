import { ApiProperty, OmitType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { toInteger } from '../../../infrastructure/pagination/dto/page-query.dto';
import { ApiCount, IsWholeNumber, Optional, ToList } from '../../../infrastructure/validation/api-field.decorator';
import { UUID } from '../../../infrastructure/validation/uuid';
import { DELIVERY_STATUSES, type DeliveryStatus, type Trigger, TRIGGERS } from '../../rows/delivery.entity';
import { ERROR_CODES, type ErrorCode } from '../../rows/delivery-error';
import { DELIVERY_STATES, type DeliveryState } from '../delivery-filters';
import { EventQueryDto } from './event.dto';

const RESPONSE_STATUS = /^([1-9]\d\d|[2-5]xx|none)$/;

/** `false` asks for nothing, as an absent parameter does. */
const toTrue = ({ value }: { value: unknown }): unknown =>
  value === 'true' ? true : value === 'false' ? undefined : value;

export class DeliveryQueryDto extends EventQueryDto {
  /** Number of rows to return: 1 to 250, or up to 1000 with `changedAfter`. */
  @ApiProperty({ type: 'integer', required: false, minimum: 1, maximum: 250, default: 50 })
  @Optional()
  @Transform(toInteger)
  @IsWholeNumber(1, 1000)
  override limit: number = 50;

  /**
   * Only deliveries whose status has changed since this point, in the order of the changes: `now`, or the `nextCursor` of such a
   * list with the same filters, which is valid for 5 minutes.
   */
  @Optional()
  @IsString()
  @MaxLength(8000)
  changedAfter?: string;

  /** With `changedAfter`: seconds to wait for the first change, 0 to 20. */
  @ApiProperty({ type: 'integer', required: false, minimum: 0, maximum: 20, default: 0 })
  @Optional()
  @Transform(toInteger)
  @IsWholeNumber(0, 20)
  waitSeconds?: number;

  /** Only deliveries with one of these statuses, such as `status=failed&status=canceled`. */
  @Optional()
  @ToList()
  @IsIn(DELIVERY_STATUSES, { each: true, message: `status must be among ${DELIVERY_STATUSES.join(', ')}` })
  @ApiProperty({ enum: DELIVERY_STATUSES, isArray: true, minItems: 1, required: false })
  status?: DeliveryStatus[];

  /** Only deliveries with this error code. */
  @Optional()
  @IsIn(ERROR_CODES)
  @ApiProperty({ enum: ERROR_CODES, required: false })
  error?: ErrorCode;

  /** Only deliveries with this response: an exact status, `2xx` to `5xx`, or `none` for failures without a response. */
  @Optional()
  @ApiProperty({ pattern: RESPONSE_STATUS.source, required: false })
  @Matches(RESPONSE_STATUS, { message: 'responseStatus must be a status such as 503, one of 2xx to 5xx, or none' })
  responseStatus?: string;

  /**
   * `true`: only deliveries that failed permanently, with no later successful or pending delivery of the event to the webhook.
   */
  @Optional()
  @Transform(toTrue)
  @IsBoolean({ message: 'givenUp must be true or false' })
  @ApiProperty({ type: Boolean, required: false })
  givenUp?: true;

  /**
   * What became of each event at each webhook: only its newest delivery, apart from tests, if that is in one of these
   * states. `waiting` waits for its first attempt, `retrying` for a later one; `gave_up` ran out of retries.
   */
  @Optional()
  @ToList()
  @IsIn(DELIVERY_STATES, { each: true, message: `state must be among ${DELIVERY_STATES.join(', ')}` })
  @ApiProperty({ enum: DELIVERY_STATES, isArray: true, minItems: 1, required: false })
  state?: DeliveryState[];

  /** Only deliveries of this event. */
  @Optional()
  @ApiProperty({ format: 'uuid', required: false })
  @Matches(UUID, { message: 'eventId must be a UUID' })
  eventId?: string;

  /** Only deliveries with this trigger. */
  @Optional()
  @IsIn(TRIGGERS)
  @ApiProperty({ enum: TRIGGERS, required: false })
  trigger?: Trigger;
}

/** The filters of a count. */
export class DeliveryCountQueryDto extends OmitType(DeliveryQueryDto, [
  'limit',
  'cursor',
  'changedAfter',
  'waitSeconds',
] as const) {}

export class DeliveryCountDto {
  /** Number of deliveries found. */
  @ApiCount()
  count: number;

  /** Whether there may be more, because the count stopped after 10,000 deliveries were read. */
  atLeast: boolean;
}
