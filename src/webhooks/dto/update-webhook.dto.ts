import { IsBoolean } from 'class-validator';
import { Optional } from '../../plumbing/validation/optional.decorator';
import { IsDescription, IsEventPatterns, IsHttpUrl, IsSecret } from './webhook-fields.decorator';

/** Any of these; what is absent stays as it is. */
export class UpdateWebhookDto {
  /**
   * A new URL; what is still pending goes there too.
   * @example https://example.com/hooks
   */
  @Optional()
  @IsHttpUrl()
  url?: string;

  /**
   * The whole new list of event names and patterns.
   * @example ["*"]
   */
  @Optional()
  @IsEventPatterns()
  events?: string[];

  /**
   * A new secret, in force at once.
   * @example correct horse battery staple
   */
  @Optional()
  @IsSecret()
  secret?: string;

  /**
   * A note for yourself, up to 256 characters; null clears it.
   * @example Staging
   */
  @IsDescription()
  description?: string | null;

  /** False cancels what is pending; true clears the failure count. */
  @Optional()
  @IsBoolean()
  active?: boolean;
}
