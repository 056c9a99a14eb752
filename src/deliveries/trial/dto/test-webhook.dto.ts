import { IsString, MaxLength } from 'class-validator';
import { Optional } from '../../../plumbing/validation/optional.decorator';

export class TestWebhookDto {
  /**
   * Sends the catalogue's example of this event; absent: `webhook.test`.
   * @example follower.gained
   */
  @Optional()
  @IsString()
  @MaxLength(128)
  event?: string;
}
