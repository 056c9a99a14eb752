import { ApiProperty } from '@nestjs/swagger';
import { WebhookStatsDto } from '../stats/dto/stats.dto';
import type { Webhook } from '../webhook.entity';
import type { WebhookView } from '../webhook-views.service';
import { ApiCount, ApiId, ApiTime } from '../../plumbing/validation/api-field.decorator';

const ahead = (time: Date | null): Date | null => (time && time.getTime() > Date.now() ? time : null);

export class WebhookDto {
  /**
   * UUIDv7 of the webhook.
   * @example 0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90
   */
  @ApiId()
  id: string;

  /**
   * Where events are sent, in canonical form.
   * @example https://example.com/hooks
   */
  url: string;

  /**
   * The event names and patterns it subscribes to.
   * @example ["operation.complete", "operation.failed"]
   */
  events: string[];

  /**
   * Your note on it.
   * @example Staging
   */
  description: string | null;

  /** Whether it gets events. */
  active: boolean;

  /** Why the service itself disabled it: it kept failing, or its receiver answered 410. */
  @ApiProperty({ enum: ['failing', 'gone', null], nullable: true, type: String })
  disabledReason: string | null;

  /** Since when it gets no events; null: it is active. */
  @ApiTime()
  disabledAt: string | null;

  /** Events in a row that ran out of retries. */
  @ApiCount()
  consecutiveFailures: number;

  /** When an attempt last succeeded, tests excluded; null: none is kept. */
  @ApiTime()
  lastSuccessAt: string | null;

  /** Until when the secret before the last rotation signs deliveries too; null: it does not. */
  @ApiTime()
  previousSecretExpiresAt: string | null;

  /** When it was created. */
  @ApiTime()
  createdAt: string;

  /** When it was last changed. */
  @ApiTime()
  updatedAt: string;

  /** The last 24 hours; only with `include=stats`. */
  @ApiProperty({ type: WebhookStatsDto, required: false })
  stats?: WebhookStatsDto;

  static from({ webhook, lastSuccessAt, stats }: WebhookView): WebhookDto {
    return {
      id: webhook.id,
      url: webhook.url,
      events: webhook.events,
      description: webhook.description,
      active: webhook.active,
      disabledReason: webhook.disabledReason,
      disabledAt: webhook.disabledAt?.toISOString() ?? null,
      consecutiveFailures: webhook.consecutiveFailures,
      lastSuccessAt: lastSuccessAt?.toISOString() ?? null,
      previousSecretExpiresAt: ahead(webhook.previousSecretExpiresAt)?.toISOString() ?? null,
      createdAt: webhook.createdAt.toISOString(),
      updatedAt: webhook.updatedAt.toISOString(),
      ...(stats && { stats: WebhookStatsDto.of(stats) }),
    };
  }
}

export class CreatedWebhookDto extends WebhookDto {
  /**
   * The signing secret: keep it, it is not shown again.
   * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0vMWGZh0Xq4=
   */
  secret: string;

  static with(webhook: Webhook, secret: string): CreatedWebhookDto {
    return { ...WebhookDto.from({ webhook, lastSuccessAt: null }), secret };
  }
}

export class DeletedWebhookDto {
  /** The id of what was deleted. */
  @ApiId()
  id: string;
}
