import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsString, MaxLength } from 'class-validator';
import { IsWholeNumber, Optional } from '../../validation/api-field.decorator';

/** Query values are text: digits become a number; any other value stays unchanged and fails validation. */
export const toInteger = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;

export class PageQueryDto {
  /** How many rows to return, 1 to 250. */
  @ApiProperty({ type: 'integer', required: false, minimum: 1, maximum: 250, default: 50 })
  @Optional()
  @Transform(toInteger)
  @IsWholeNumber(1, 250)
  limit: number = 50;

  /** `nextCursor` of the previous page, together with the same filters. */
  @Optional()
  @IsString()
  @MaxLength(500)
  cursor?: string;
}
