import { ApiProperty } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { ApiCount, ApiTime, IsOptionalTime, Optional } from '../../../infrastructure/validation/api-field.decorator';
import { UUID } from '../../../infrastructure/validation/uuid';
import type { AttemptNumbers } from '../attempt-numbers';
import { type Health, HEALTHS } from '../health';
import type { Stats, WebhookStats } from '../stats.service';
import { type Step, STEPS } from '../step-window';

/** Statistics of attempts, excluding test deliveries. */
export class AttemptNumbersDto implements AttemptNumbers {
  /** Number of attempts that succeeded. */
  @ApiCount()
  succeeded: number;

  /** Number of attempts that failed, including those that were retried. */
  @ApiCount()
  failed: number;

  /** Number of attempts that were canceled because their webhook was disabled or deleted. */
  @ApiCount()
  canceled: number;

  /** Median response time in ms, accurate to 20 %; null if there was no response. */
  @ApiCount({ nullable: true })
  p50Ms: number | null;

  /** 95th percentile of the response time in ms, accurate to 20 %; null if there was no response. */
  @ApiCount({ nullable: true })
  p95Ms: number | null;

  /** Number of attempts by error code, see docs/errors.md. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'integer', minimum: 1 }, example: { timeout: 3 } })
  byError: Record<string, number>;
}

export class StatsStepDto extends AttemptNumbersDto {
  /** When the step begins. */
  @ApiTime()
  from: string;
}

export class StatsDto {
  /** One entry per step, earliest first. */
  steps: StatsStepDto[];

  /** Totals of all steps. */
  totals: AttemptNumbersDto;

  static from({ steps, totals }: Stats): StatsDto {
    return { steps: steps.map((step) => ({ ...step, from: step.from.toISOString() })), totals };
  }
}

export class WebhookStatsDto extends StatsDto {
  /** Number of pending deliveries, excluding test deliveries, counted up to 1,000. */
  @ApiCount({ maximum: 1000 })
  pending: number;

  /** When the earliest of these is due; null if none is pending. */
  @ApiTime()
  nextDueAt: string | null;

  /** When an attempt was last made, excluding test deliveries; null if none is on record. */
  @ApiTime()
  lastDeliveryAt: string | null;

  /** The first failure after the last success; null if there is none among the last 1,000 failures. */
  @ApiTime()
  failingSince: string | null;

  /**
   * The first that applies: `disabled`; `failing`: the last event that ended ran out of retries, or the last hour had five
   * attempts or more and no success; `degraded`: under 99 % of at least ten attempts of the last hour succeeded;
   * `no_traffic`: no attempt in 24 hours; `healthy`.
   */
  @ApiProperty({ enum: HEALTHS })
  health: Health;

  static of(stats: WebhookStats & { health: Health }): WebhookStatsDto {
    const { nextDueAt, lastDeliveryAt, failingSince } = stats;
    return {
      ...StatsDto.from(stats),
      pending: stats.pending,
      nextDueAt: nextDueAt?.toISOString() ?? null,
      lastDeliveryAt: lastDeliveryAt?.toISOString() ?? null,
      failingSince: failingSince?.toISOString() ?? null,
      health: stats.health,
    };
  }
}

export class StatsQueryDto {
  /** Counts only attempts to this webhook. */
  @Optional()
  @ApiProperty({ format: 'uuid', required: false })
  @Matches(UUID, { message: 'webhookId must be a UUID' })
  webhookId?: string;

  /** Starts with the step that contains this time, such as 2026-01-15T09:30:00Z. Default: 24 hours before `until`. */
  @IsOptionalTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  since?: Date;

  /** Ends with the step that ends at or after this time. Default: now. */
  @IsOptionalTime()
  @ApiProperty({ type: String, format: 'date-time', required: false })
  until?: Date;

  /** Length of each step. */
  @Optional()
  @IsIn(STEPS)
  @ApiProperty({ enum: STEPS, required: false, default: '1h' })
  step: Step = '1h';
}
