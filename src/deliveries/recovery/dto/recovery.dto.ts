import { ApiProperty, OmitType, PartialType } from '@nestjs/swagger';
import { IsBoolean, IsIn } from 'class-validator';
import { ERROR_CODES, type ErrorCode } from '../../rows/delivery-error';
import {
  ApiCount,
  ApiId,
  ApiTime,
  IsEventFilter,
  IsOptionalTime,
  IsTime,
  Optional,
} from '../../../infrastructure/validation/api-field.decorator';
import { type Recovery, RECOVERY_STATUSES, type RecoveryStatus } from '../recovery.entity';

export class RecoveryRequestDto {
  /**
   * Start of the time range: events created at this time or later.
   * @example 2026-01-15T09:30:00Z
   */
  @IsTime()
  @ApiProperty({ type: String, format: 'date-time' })
  since: Date;

  /**
   * End of the time range: events created before this time. The default is now.
   * @example 2026-01-15T12:00:00+01:00
   */
  @IsOptionalTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  until?: Date;

  /**
   * Only events with this name.
   * @example follower.gained
   */
  @IsEventFilter()
  event?: string;

  /** Only events whose newest delivery has this error; `webhook_disabled` selects events whose delivery was canceled. */
  @Optional()
  @IsIn(ERROR_CODES)
  @ApiProperty({ enum: ERROR_CODES, required: false })
  error?: ErrorCode;

  /** If true, only counts the events and changes nothing. */
  @Optional()
  @IsBoolean()
  dryRun?: boolean = false;
}

export class RecoveryDto {
  /**
   * UUIDv7 of the recovery.
   * @example 0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90
   */
  @ApiId()
  id: string;

  /** `running` until the last event is enqueued, or the webhook is disabled or deleted. */
  @ApiProperty({ enum: RECOVERY_STATUSES })
  status: RecoveryStatus;

  /** Number of events to send again; null until it is known: at once for up to 10,000 events, else at the end. */
  @ApiCount({ nullable: true })
  count: number | null;

  /**
   * Number of these events that have a new delivery so far; events that were delivered otherwise in the meantime are not counted.
   */
  @ApiCount()
  queued: number;

  /** When the recovery was requested. */
  @ApiTime()
  createdAt: string;

  /** When the recovery completed; null while it is running. */
  @ApiTime()
  completedAt: string | null;

  static from({ id, status, count, queued, createdAt, completedAt }: Recovery): RecoveryDto {
    return {
      ...{ id, status, count, queued },
      createdAt: createdAt.toISOString(),
      completedAt: completedAt?.toISOString() ?? null,
    };
  }
}

/** Both answers to a request to recover: a recovery, or with `dryRun` only its count. */
export class RecoveryResultDto extends PartialType(OmitType(RecoveryDto, ['count'])) {
  /** Number of events to send again; null until it is known. */
  @ApiCount({ nullable: true })
  count: number | null;

  /** False if only the newest events of the time range were looked at, so that older ones may have been missed, too. */
  @ApiProperty({ required: false })
  complete?: boolean;
}
