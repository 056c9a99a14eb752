import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { toInteger } from '../../../plumbing/pagination/dto/page-query.dto';
import { IsWholeNumber } from '../../../plumbing/validation/whole-number.decorator';
import { UUID } from '../../../plumbing/validation/uuid.pipe';
import { Optional } from '../../../plumbing/validation/optional.decorator';
import { DELIVERY_STATUSES, type DeliveryStatus, type Trigger, TRIGGERS } from '../../delivery.entity';
import { ERROR_CODES, type ErrorCode } from '../../delivery-error';
import { EventQueryDto } from './event-query.dto';

const RESPONSE_STATUS = /^([1-9]\d\d|[2-5]xx|none)$/;

/** A field of a query that may be repeated, as a list without repeats. */
const toList = ({ value }: { value: unknown }): unknown => (value === undefined ? value : [...new Set([value].flat())]);
const toTrue = ({ value }: { value: unknown }): unknown => (value === 'true' ? true : value);

export class DeliveryQueryDto extends EventQueryDto {
  /** How many rows to return, 1 to 250; with `changedAfter` up to 1000. */
  @ApiProperty({ type: 'integer', required: false, minimum: 1, maximum: 1000, default: 50 })
  @Optional()
  @Transform(toInteger)
  @IsWholeNumber(1, 1000)
  override limit: number = 50;

  /**
   * Only deliveries whose status is new since this point, in the order of the changes: `now`, or the `nextCursor` of such
   * a list with the same filters, which is good for 5 minutes.
   */
  @Optional()
  @IsString()
  @MaxLength(8000)
  changedAfter?: string;

  /** With `changedAfter`: waits so long for the first change. 0 to 20 seconds. */
  @ApiProperty({ type: 'integer', required: false, minimum: 0, maximum: 20, default: 0 })
  @Optional()
  @Transform(toInteger)
  @IsWholeNumber(0, 20)
  waitSeconds?: number;

  /** Only deliveries with one of these statuses: `status=failed&status=canceled`. */
  @Optional()
  @Transform(toList)
  @IsIn(DELIVERY_STATUSES, { each: true, message: `status must be among ${DELIVERY_STATUSES.join(', ')}` })
  @ApiProperty({ enum: DELIVERY_STATUSES, isArray: true, minItems: 1, required: false })
  status?: DeliveryStatus[];

  /** Only deliveries with this error. */
  @Optional()
  @IsIn(ERROR_CODES)
  @ApiProperty({ enum: ERROR_CODES, required: false })
  error?: ErrorCode;

  /** Only deliveries with this answer: an exact status, `2xx` to `5xx`, or `none` for those that failed without one. */
  @Optional()
  @ApiProperty({ pattern: RESPONSE_STATUS.source, required: false, example: '5xx' })
  @Matches(RESPONSE_STATUS, { message: 'responseStatus must be a status such as 503, one of 2xx to 5xx, or none' })
  responseStatus?: string;

  /** `true`: only deliveries that failed for good, while no later one of the event to the webhook succeeded or is pending. */
  @Optional()
  @Transform(toTrue)
  @IsIn([true], { message: 'givenUp must be true' })
  @ApiProperty({ enum: [true], type: Boolean, required: false })
  givenUp?: true;

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
