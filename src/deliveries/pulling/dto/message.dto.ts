import { ApiProperty } from '@nestjs/swagger';
import {
  ApiId,
  ApiTime,
  IsWholeNumber,
  Optional,
  patternOf,
} from '../../../infrastructure/validation/api-field.decorator';
import { MAX_LEASE_ID, MAX_LEASES, MAX_REASON, REASON } from '../acknowledgement';

export class LeaseRequestDto {
  /** The most messages to lease. */
  @ApiProperty({ type: 'integer', required: false, minimum: 1, maximum: MAX_LEASES, default: 10 })
  @Optional()
  @IsWholeNumber(1, MAX_LEASES)
  limit: number = 10;

  /** Seconds to wait for the first message: 0 to 20. */
  @ApiProperty({ type: 'integer', required: false, minimum: 0, maximum: 20, default: 0 })
  @Optional()
  @IsWholeNumber(0, 20)
  waitSeconds: number = 0;

  /** Seconds until the leases end: 10 to 600. */
  @ApiProperty({ type: 'integer', required: false, minimum: 10, maximum: 600, default: 60 })
  @Optional()
  @IsWholeNumber(10, 600)
  leaseSeconds: number = 60;
}

/** A delivery that you have leased. */
export class MessageDto {
  /** Id of the lease, for its acknowledgement. Only this response contains it. */
  leaseId: string;

  /** Id of the delivery, as in the log. */
  @ApiId()
  deliveryId: string;

  /** When the lease ends. Without an acknowledgement the attempt then fails with `timeout`. */
  @ApiTime()
  expiresAt: string;

  /** The headers that a POST would have, including the signatures. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' } })
  headers: Record<string, string>;

  /** The exact body that was signed. */
  body: string;
}

export class FailedLeaseDto {
  /** Id of the lease. */
  @ApiProperty({ maxLength: MAX_LEASE_ID })
  leaseId: string;

  /**
   * The reason, for the delivery log.
   * @example The order is not known yet.
   */
  @ApiProperty({ required: false, nullable: true, maxLength: MAX_REASON, pattern: patternOf(REASON) })
  message?: string | null;
}

/** Documents the body that `acknowledgement.ts` parses: both lists together have 1 to 100 different leases. */
export class AcknowledgementDto {
  /** Ids of the leases whose messages were processed. */
  @ApiProperty({
    required: false,
    maxItems: MAX_LEASES,
    uniqueItems: true,
    items: { type: 'string', maxLength: MAX_LEASE_ID },
  })
  succeeded?: string[];

  /** The leases whose messages were not processed: each event is leased again when its retry is due. */
  @ApiProperty({ type: [FailedLeaseDto], required: false, maxItems: MAX_LEASES })
  failed?: FailedLeaseDto[];
}

export class AcknowledgedLeasesDto {
  /** Ids of the leases whose attempts have succeeded now. */
  succeeded: string[];

  /** Ids of the leases whose attempts have failed now. */
  failed: string[];

  /** Ids that changed nothing: the lease has ended, was acknowledged before, or is unknown. */
  expired: string[];
}
