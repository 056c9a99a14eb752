import { ApiProperty } from '@nestjs/swagger';
import { ApiCount, ApiTime } from '../../../plumbing/validation/api-field.decorator';
import type { AttemptNumbers } from '../attempt-numbers';
import type { Stats, WebhookStats } from '../stats.service';

/** What attempts came to, tests apart. */
export class AttemptNumbersDto implements AttemptNumbers {
  /** Attempts that succeeded. */
  @ApiCount()
  succeeded: number;

  /** Attempts that failed, those that were repeated included. */
  @ApiCount()
  failed: number;

  /** Attempts that were not made, because their webhook was disabled or deleted. */
  @ApiCount()
  canceled: number;

  /** Half of the answers took so many milliseconds or less, to within 20 %; null: there was no answer. */
  @ApiCount({ nullable: true })
  p50Ms: number | null;

  /** 95 of 100 answers took so many milliseconds or less, to within 20 %; null: there was no answer. */
  @ApiCount({ nullable: true })
  p95Ms: number | null;

  /** Attempts by the code of their error, see docs/errors.md. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'integer', minimum: 1 }, example: { timeout: 3 } })
  byError: Record<string, number>;
}

export class StatsStepDto extends AttemptNumbersDto {
  /** When the step begins. */
  @ApiTime()
  from: string;
}

export class StatsDto {
  /** One entry for each step, the earliest first. */
  steps: StatsStepDto[];

  /** All steps together. */
  totals: AttemptNumbersDto;

  static from({ steps, totals }: Stats): StatsDto {
    return { steps: steps.map((step) => ({ ...step, from: step.from.toISOString() })), totals };
  }
}

export class WebhookStatsDto extends StatsDto {
  /** Deliveries that are pending, tests apart; counted up to 1,000. */
  @ApiCount({ maximum: 1000 })
  pending: number;

  /** When an attempt was last made, tests excluded; null: none is kept. */
  @ApiTime()
  lastDeliveryAt: string | null;

  static of(stats: WebhookStats): WebhookStatsDto {
    const { pending, lastDeliveryAt } = stats;
    return { ...StatsDto.from(stats), pending, lastDeliveryAt: lastDeliveryAt?.toISOString() ?? null };
  }
}
