import { ApiCount } from '../../plumbing/validation/api-field.decorator';

/** What this service does with what it is given: its version, and the settings that a client may want to know. */
export class AboutDto {
  /**
   * The version of the service.
   * @example 0.2.0
   */
  version: string;

  /** Events, deliveries and idempotency keys are dropped after so many days. */
  @ApiCount()
  retentionDays: number;

  /** How often a failed attempt is repeated. */
  @ApiCount()
  maxRetries: number;

  /** How long each retry waits, before it is varied at random. */
  @ApiCount({ isArray: true, example: [30_000, 240_000, 1_920_000] })
  retryDelaysMs: number[];

  /** How long an attempt may take up to the status line. */
  @ApiCount()
  deliveryTimeoutMs: number;

  /** A webhook is disabled after so many events in a row have run out of retries… */
  @ApiCount()
  disableAfterFailures: number;

  /** …but not before so many hours have passed since its last success. */
  @ApiCount()
  disableAfterHours: number;

  /** The most webhooks that a user may have. */
  @ApiCount()
  maxWebhooksPerUser: number;

  /** The most bytes that the body of a publish request may have. */
  @ApiCount()
  eventMaxBytes: number;

  /** How often a user may ask, publishing apart, for each process; 0: no limit. */
  @ApiCount()
  requestsPerMinute: number;

  /** Whether there is a console at `/console`. */
  console: boolean;

  /** Whether there are receivers to try with. */
  tryReceiver: boolean;
}
