import { ApiProperty } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { Optional } from '../../../plumbing/validation/optional.decorator';
import { IsOptionalTime } from '../../../plumbing/validation/time.decorator';
import { UUID } from '../../../plumbing/validation/uuid.pipe';
import { type Step, STEPS } from '../step-window';

export class StatsQueryDto {
  /** Only attempts at this webhook. */
  @Optional()
  @ApiProperty({ format: 'uuid', required: false })
  @Matches(UUID, { message: 'webhookId must be a UUID' })
  webhookId?: string;

  /** From the step in which this time lies, such as 2026-01-15T09:30:00Z; absent: 24 hours before `until`. */
  @IsOptionalTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  since?: Date;

  /** Up to the step that ends at this time or after it; absent: now. */
  @IsOptionalTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  until?: Date;

  /** How long each step is. */
  @Optional()
  @IsIn(STEPS)
  @ApiProperty({ enum: STEPS, required: false, default: '1h' })
  step: Step = '1h';
}
