import { IsBoolean } from 'class-validator';
import { Optional } from '../../infrastructure/validation/optional.decorator';
import { IsDescription, IsEventPatterns, IsHttpUrl, IsSecret } from './webhook-fields.decorator';

export class CreateWebhookDto {
  /**
   * The URL that receives events: an absolute http: or https: URL of at most 2048 characters.
   * @example https://example.com/hooks
   */
  @IsHttpUrl()
  url: string;

  /**
   * The events to subscribe to: 1 to 50 event names, prefix patterns such as `follower.*`, or `*` for all events.
   * @example ["operation.complete", "operation.failed"]
   */
  @IsEventPatterns()
  events: string[];

  /**
   * Signing key: 8 to 256 printable characters. Generated if absent.
   * @example correct horse battery staple
   */
  @Optional()
  @IsSecret()
  secret?: string;

  /**
   * A note for yourself, at most 256 characters.
   * @example Staging
   */
  @IsDescription()
  description?: string | null;

  /** Whether the webhook receives events. */
  @Optional()
  @IsBoolean()
  active?: boolean = true;
}
