import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, Matches } from 'class-validator';
import { APPLICATION } from 'webhook-notification/catalogue';
import { MESSAGES } from '../../../plumbing/errors/messages';
import { ToBoolean } from '../../../plumbing/validation/boolean.decorator';
import { Optional } from '../../../plumbing/validation/optional.decorator';

export class SaveEventTypeQueryDto {
  /** True: replaces the schema by another one. */
  @Optional()
  @ToBoolean()
  @IsBoolean({ message: 'force must be true or false' })
  force?: boolean;
}

export class DeleteEventTypeQueryDto {
  /** The application that has declared it, if one has. */
  @Optional()
  @Matches(APPLICATION, { message: MESSAGES.badApplication })
  @ApiProperty({ pattern: APPLICATION.source, required: false })
  application?: string;
}
