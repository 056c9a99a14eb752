import { ApiProperty } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { EVENT_NAME } from 'webhook-notification/catalogue';
import { Optional } from '../../../infrastructure/validation/api-field.decorator';
import { DeliveryDetailDto } from '../../dto/delivery.dto';

export class TestDeliveryRequestDto {
  /**
   * Name of the event whose example is sent; `webhook.test` by default.
   * @example follower.gained
   */
  @ApiProperty({ maxLength: 128, pattern: EVENT_NAME.source, required: false })
  @Optional()
  @IsString()
  @MaxLength(128)
  event?: string;
}

export class TestDeliveryDto extends DeliveryDetailDto {
  /** Whether the webhook's filter, if it has one, would let such an event through. Tests ignore it. */
  matchesFilter?: boolean;
}
