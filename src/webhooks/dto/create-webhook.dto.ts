import { IsBoolean } from 'class-validator';
import { Optional } from '../../plumbing/validation/optional.decorator';
import { IsDescription, IsEventPatterns, IsHttpUrl, IsSecret } from './webhook-fields.decorator';

export class CreateWebhookDto {
  /**
   * Where events are sent: an absolute http: or https: URL of at most 2048 characters.
   * @example https://example.com/hooks
   */
  @IsHttpUrl()
  url: string;

  /**
   * What it subscribes to: 1 to 50 event names, prefix patterns such as `follower.*`, or `*` for everything.
   * @example ["operation.complete", "operation.failed"]
   */
  @IsEventPatterns()
  events: string[];

  /**
   * Key of the signatures: 8 to 256 printable characters. When absent the service makes one.
   * @example correct horse battery staple
   */
  @Optional()
  @IsSecret()
  secret?: string;

  /**
   * A note for yourself, up to 256 characters.
   * @example Staging
   */
  @IsDescription()
  description?: string | null;

  /** Whether it gets events. */
  @Optional()
  @IsBoolean()
  active?: boolean = true;
}
