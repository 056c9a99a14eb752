import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsIn } from 'class-validator';
import { ERROR_CODES, type ErrorCode } from '../../delivery-error';
import { IsEventFilter } from '../../../plumbing/validation/event-filter.decorator';
import { Optional } from '../../../plumbing/validation/optional.decorator';
import { IsOptionalTime, IsTime } from '../../../plumbing/validation/time.decorator';
import { type Recovery, RECOVERY_STATUSES, type RecoveryStatus } from '../recovery.entity';
import { ApiCount, ApiId, ApiTime } from '../../../plumbing/validation/api-field.decorator';

export class RecoverDto {
  /**
   * Events created at this time or later: when the trouble began.
   * @example 2026-01-15T09:30:00Z
   */
  @IsTime()
  @ApiProperty({ type: String, format: 'date-time' })
  since: Date;

  /**
   * Events created before this time; absent: now.
   * @example 2026-01-15T12:00:00+01:00
   */
  @IsOptionalTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  until?: Date;

  /** Only events with this name, such as follower.gained. */
  @IsEventFilter()
  event?: string;

  /** Only events whose newest delivery has this error; `webhook_disabled`: those that were canceled. */
  @Optional()
  @IsIn(ERROR_CODES)
  @ApiProperty({ enum: ERROR_CODES, required: false })
  error?: ErrorCode;

  /** True only counts, and changes nothing. */
  @Optional()
  @IsBoolean()
  dryRun?: boolean = false;
}

export class RecoveryCountDto {
  /** Events that would be sent again. */
  @ApiCount()
  count: number;
}

export class RecoveryDto {
  /**
   * UUIDv7 of the recovery.
   * @example 0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90
   */
  @ApiId()
  id: string;

  /** `running` until the last event is queued, or the webhook is disabled or deleted. */
  @ApiProperty({ enum: RECOVERY_STATUSES })
  status: RecoveryStatus;

  /** Events that had to be sent again when it began. */
  @ApiCount()
  count: number;

  /** Those that have a new delivery by now; what was brought home otherwise meanwhile is left out. */
  @ApiCount()
  queued: number;

  /** When it was asked for. */
  @ApiTime()
  createdAt: string;

  /** When it was done; null: it is running. */
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
