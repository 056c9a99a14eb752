import { ApiProperty } from '@nestjs/swagger';
import { APPLICATION, DESCRIPTION, EVENT_NAME } from 'webhook-notification/catalogue';
import { patternOf } from '../../../plumbing/validation/api-field.decorator';

/** Documents what `event-type-request.ts` reads. */
class EventTypeFieldsDto {
  /**
   * When it happens, as a sentence; 1 to 500 characters.
   * @example An invoice was paid.
   */
  @ApiProperty({ pattern: patternOf(DESCRIPTION) })
  description: string;

  /**
   * JSON Schema (2020-12) of `data`, of type object; absent: any object. At most 16 KiB, 16 levels, and 500 keywords and enum
   * values together, counted as often as references repeat them. Keywords may be type, properties, required,
   * additionalProperties, items, enum, const, format (date-time, date, uuid, email, uri), oneOf, anyOf, allOf, $defs, $ref to
   * one of $defs, bounds of numbers, lengths and counts, and annotations.
   * @example { "type": "object", "required": ["cents"], "properties": { "cents": { "type": "integer", "minimum": 0 } } }
   */
  schema?: Record<string, unknown>;

  /**
   * An example of `data` that fits the schema; absent: an empty object. At most 16 KiB.
   * @example { "cents": 4900 }
   */
  example?: Record<string, unknown>;
}

export class CreateEventTypeDto extends EventTypeFieldsDto {
  /**
   * Two or more parts of a-z, 0-9 and _, joined by dots. Names that begin with webhook. are reserved.
   * @example invoice.paid
   */
  @ApiProperty({ maxLength: 128, pattern: EVENT_NAME.source })
  name: string;
}

export class SaveEventTypeDto extends EventTypeFieldsDto {
  /**
   * The application that declares it: only the same one can change it.
   * @example shop
   */
  @ApiProperty({ pattern: APPLICATION.source })
  application?: string;
}
