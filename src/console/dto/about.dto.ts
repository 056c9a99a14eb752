import { ApiCount } from '../../infrastructure/validation/api-field.decorator';

/** The version of the service and the settings that affect clients. */
export class AboutDto {
  /**
   * The version of the service.
   * @example 0.2.0
   */
  version: string;

  /** Number of days after which events, deliveries and idempotency keys are deleted. */
  @ApiCount()
  retentionDays: number;

  /** Maximum number of retries of a failed attempt. */
  @ApiCount()
  maxRetries: number;

  /** Delay before each retry in ms, without random jitter. A webhook may have delays of its own. */
  @ApiCount({ isArray: true, example: [30_000, 240_000, 1_920_000] })
  retryDelaysMs: number[];

  /** Maximum duration of an attempt in ms, up to the status line. A webhook may have a shorter one. */
  @ApiCount()
  deliveryTimeoutMs: number;

  /** Number of consecutive events that run out of retries before a webhook is disabled. */
  @ApiCount()
  disableAfterFailures: number;

  /** Minimum number of hours since the last success before a webhook is disabled. */
  @ApiCount()
  disableAfterHours: number;

  /** Maximum number of webhooks per user. */
  @ApiCount()
  maxWebhooksPerUser: number;

  /** Maximum size of the body of a publish request, in bytes. */
  @ApiCount()
  eventMaxBytes: number;

  /** Maximum number of requests per minute, user and process, excluding publish requests; 0 means no limit. */
  @ApiCount()
  requestsPerMinute: number;

  /**
   * The prefixes of the headers of deliveries: the event's name is in `<prefix>-event` of each. `x-service-signature` is always sent.
   * @example ["x-service"]
   */
  headerPrefixes: string[];

  /**
   * The `user-agent` of deliveries.
   * @example webhook-notification-service/1.0.0
   */
  userAgent: string;

  /** Whether the console is available at `/console`. */
  console: boolean;

  /** Whether test receivers are available. */
  tryReceiver: boolean;

  /** Whether BOOTSTRAP_TOKEN is set; always false for other users than admin. */
  bootstrapToken: boolean;
}
