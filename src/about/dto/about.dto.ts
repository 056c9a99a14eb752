import { ApiProperty } from '@nestjs/swagger';

/** What this service does with what it is given: its version, and the settings that a client may want to know. */
export class AboutDto {
  /** @example 0.2.0 */
  version: string;

  /** Events, deliveries and idempotency keys are dropped after so many days. */
  @ApiProperty({ type: 'integer' })
  retentionDays: number;

  /** How often a failed attempt is repeated. */
  @ApiProperty({ type: 'integer' })
  maxRetries: number;

  /** How long each retry waits, before it is varied at random. */
  @ApiProperty({ type: 'integer', isArray: true, example: [30_000, 240_000, 1_920_000] })
  retryDelaysMs: number[];

  /** How long an attempt may take up to the status line. */
  @ApiProperty({ type: 'integer' })
  deliveryTimeoutMs: number;

  /** A webhook is disabled after so many events in a row have run out of retries… */
  @ApiProperty({ type: 'integer' })
  disableAfterFailures: number;

  /** …but not before so many hours have passed since its last success. */
  @ApiProperty({ type: 'integer' })
  disableAfterHours: number;

  @ApiProperty({ type: 'integer' })
  maxWebhooksPerUser: number;

  /** The most bytes that the body of a publish request may have. */
  @ApiProperty({ type: 'integer' })
  eventMaxBytes: number;

  /** How often a user may ask, publishing apart, for each process; 0: no limit. */
  @ApiProperty({ type: 'integer' })
  requestsPerMinute: number;

  /** Whether there is a console at `/console`. */
  console: boolean;

  /** Whether there are receivers to try with. */
  tryReceiver: boolean;
}
