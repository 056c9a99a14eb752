import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { USER_ID } from 'webhook-notification/catalogue';
import { MESSAGES } from '../../../plumbing/errors/messages';
import { PageQueryDto } from '../../../plumbing/pagination/dto/page-query.dto';
import { Optional } from '../../../plumbing/validation/optional.decorator';

export class ListTokensDto extends PageQueryDto {
  /** Whose tokens; absent: yours. Another user takes the scope users:manage. */
  @ApiProperty({ required: false, pattern: USER_ID.source })
  @Optional()
  @Matches(USER_ID, { message: MESSAGES.badUserId })
  userId?: string;
}
