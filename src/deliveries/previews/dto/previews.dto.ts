import { ApiProperty } from '@nestjs/swagger';
import { EVENT_NAME } from 'webhook-notification/catalogue';
import { ApiSubject } from '../../../infrastructure/validation/api-field.decorator';
import { FILTER_EXAMPLE } from '../../../webhooks/dto/webhook-fields.decorator';
import type { FilterExplanation } from '../../../webhooks/filter/explain-filter';
import { OPERATOR_NAMES } from '../../../webhooks/filter/filter-operators';
import { patternOf } from '../../../infrastructure/validation/api-field.decorator';
import { type EventFormat, FORMATS, type FormattedEvent } from '../../../webhooks/formats/event-format';
import { FIELD_PATH, MAX_FIELDS, MAX_PATH } from '../../../webhooks/formats/field-paths';

/** Documents the events that `preview-requests.ts` parses: `event`, `data` and `subject`, or `eventId`. */
class ChosenEventDto {
  /**
   * Name of the event.
   * @example operation.complete
   */
  @ApiProperty({ required: false, maxLength: 128, pattern: EVENT_NAME.source })
  event?: string;

  /**
   * Data of the event.
   * @example { "amountCents": 4900, "status": "paid" }
   */
  @ApiProperty({ type: 'object', selfRequired: false, additionalProperties: true })
  data?: object;

  /**
   * What the event is about.
   * @example invoice/123
   */
  @ApiSubject()
  subject?: string | null;

  /** Id of a stored event, in place of `event`, `data` and `subject`. Requires the scope deliveries:read. */
  @ApiProperty({ required: false, format: 'uuid' })
  eventId?: string;
}

export class FilterCheckRequestDto extends ChosenEventDto {
  /** The filter of a webhook, which need not be stored. */
  @ApiProperty({ type: 'object', nullable: true, additionalProperties: true, example: FILTER_EXAMPLE })
  filter: object | null;
}

export class FormatPreviewRequestDto extends ChosenEventDto {
  /** The format of a webhook. */
  @ApiProperty({ enum: FORMATS, enumName: 'EventFormat' })
  format: EventFormat;

  /**
   * The fields of a webhook: paths below `data`; null or absent means all of the data.
   * @example ["amountCents"]
   */
  @ApiProperty({
    type: 'array',
    maxItems: MAX_FIELDS,
    items: { type: 'string', maxLength: MAX_PATH, pattern: patternOf(FIELD_PATH) },
    required: false,
    nullable: true,
  })
  fields?: string[] | null;
}

export class FailedOperatorDto {
  /**
   * Path of the condition.
   * @example data.amountCents
   */
  path: string;

  /** Operator that does not hold. */
  @ApiProperty({ enum: OPERATOR_NAMES })
  operator: string;

  /** What the operator compares with: a text, number, boolean, null, or a list of these. */
  @ApiProperty({ oneOf: [], example: 1000 })
  expected: unknown;

  /**
   * What the event has there, as JSON text of at most 256 characters; null if the path is missing.
   * @example "500"
   */
  found: string | null;
}

export class FilterCheckDto {
  /** Whether a webhook with this filter receives the event. */
  matches: boolean;

  /** The operators that do not hold, at most 20; empty if the event matches. */
  @ApiProperty({ type: [FailedOperatorDto] })
  failed: FailedOperatorDto[];

  static from({ matches, failed }: FilterExplanation): FilterCheckDto {
    return { matches, failed };
  }
}

export class FormatPreviewDto {
  /**
   * Content type of the body.
   * @example application/json
   */
  contentType: string;

  /** The exact body that would be signed and sent. */
  body: string;

  static from({ contentType, body }: FormattedEvent): FormatPreviewDto {
    return { contentType, body };
  }
}
