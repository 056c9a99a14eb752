import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';

/** Query values are text: digits become a number, everything else stays what it is and fails validation. */
const toInteger = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;

export class PageQueryDto {
  /** How many rows to return, 1 to 250. */
  @IsOptional()
  @Transform(toInteger)
  @IsInt({ message: 'limit must be a whole number from 1 to 250' })
  @Min(1)
  @Max(250)
  limit: number = 50;

  /** `nextCursor` of the previous page, together with the same filters. */
  @IsOptional()
  @IsString()
  @MaxLength(500)
  cursor?: string;
}
