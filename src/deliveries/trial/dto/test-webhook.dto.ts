import { ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { EVENT_NAME } from 'webhook-notification/catalogue';
import { Optional } from '../../../plumbing/validation/optional.decorator';

export class TestWebhookDto {
  /**
   * Sends the catalogue's example of this event; absent: `webhook.test`.
   * @example follower.gained
   */
  @ApiProperty({ maxLength: 128, pattern: EVENT_NAME.source, required: false })
  @Optional()
  @IsString()
  @MaxLength(128)
  event?: string;
}
