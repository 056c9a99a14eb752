import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsString, Matches, ValidateBy, ValidateIf } from 'class-validator';
import { secretProblem } from 'webhook-notification/catalogue';
import { invalid } from '../../infrastructure/errors/api-error';
import { IsWholeNumber, Optional, ParsedField, patternOf } from '../../infrastructure/validation/api-field.decorator';
import { PathParam } from '../../infrastructure/validation/api-request.decorator';
import { HEADER_NAME, HEADER_VALUE, MAX_HEADERS, parseHeaders } from '../headers/header-rules';
import { WEBHOOK_KINDS, type WebhookKind } from '../webhook-fields';

/** 8 to 256 characters of any script, except control characters and lone surrogates. */
const PRINTABLE_SECRET = /^[^\p{Cc}\p{Cs}]{8,256}$/u;
export const WELL_FORMED = /^[^\p{Cs}\0]*$/u;
/** The first check of `validateUrl`. A pattern cannot express the complete rule. */
const HTTP_URL = /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s\p{Cc}\p{Cs}\\#/?@]+([/?][^\s\p{Cc}\p{Cs}\\#]*)?$/u;
export const EVENT_PATTERN = /^(\*|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(\.\*)?)$/;

const EXTERNAL_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
const EXTERNAL_ID_RULE = 'must have 1 to 128 letters, digits, . _ : or -, and begin with a letter or digit';
export const FILTER_EXAMPLE = { 'data.amountCents': { gte: 1000 }, 'data.status': ['paid', 'refunded'] };

/** Documents a field, and validates it by these decorators in their order. */
export const Field = (documented: object, ...checks: PropertyDecorator[]): PropertyDecorator =>
  applyDecorators(ApiProperty(documented as ApiPropertyOptions), ...checks);

/** Null clears the field. */
export const OrNull = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined && value !== null);

export const WholeNumberOrNull = (minimum: number, maximum: number): PropertyDecorator =>
  Field({ type: 'integer', minimum, maximum, nullable: true }, OrNull(), IsWholeNumber(minimum, maximum));

/** The URL that receives events. `WebhookRulesService` validates it. */
export const IsHttpUrl = (): PropertyDecorator => Field({ maxLength: 2048, pattern: patternOf(HTTP_URL) }, IsString());

export const IsExternalId = (): PropertyDecorator =>
  Field(
    { maxLength: 128, pattern: EXTERNAL_ID.source },
    OrNull(),
    IsString(),
    Matches(EXTERNAL_ID, { message: `externalId ${EXTERNAL_ID_RULE}` }),
  );

/** Validates that a path segment is an external id (otherwise returns 400), and documents it. */
export const ExternalIdParam = (): ParameterDecorator =>
  PathParam({
    name: 'externalId',
    description: 'Your own id for the webhook.',
    schema: { type: 'string', pattern: EXTERNAL_ID.source },
    example: 'billing:invoices',
    parse: (text) => {
      if (!EXTERNAL_ID.test(text)) throw invalid('externalId', `externalId ${EXTERNAL_ID_RULE}`);
      return text;
    },
  });

/** A signing secret: 8 to 256 printable characters. What looks like one of Standard Webhooks must be one. */
export const IsSecret = (): PropertyDecorator =>
  Field(
    { minLength: 8, maxLength: 256, pattern: patternOf(PRINTABLE_SECRET) },
    Optional(),
    IsString(),
    Matches(PRINTABLE_SECRET, { message: 'secret must be 8 to 256 printable characters without control characters' }),
    ValidateBy({
      name: 'isUsableSecret',
      validator: {
        validate: (value) => typeof value !== 'string' || secretProblem(value) === null,
        defaultMessage: (args) => `secret ${secretProblem(String(args?.value))}`,
      },
    }),
  );

/** Ends the overlap of an earlier rotation. */
export const IsForce = (): PropertyDecorator =>
  Field({ type: 'boolean', required: false, default: false }, Optional(), IsBoolean());

/** One of the kinds; never null. */
export const IsKind = (absent?: WebhookKind): PropertyDecorator =>
  Field(
    { enum: WEBHOOK_KINDS, enumName: 'WebhookKind', required: false, default: absent },
    Optional(),
    IsIn(WEBHOOK_KINDS, { message: `kind must be one of ${WEBHOOK_KINDS.join(', ')}` }),
  );

const HEADER = { type: 'string', minLength: 1, maxLength: 1024, pattern: HEADER_VALUE.source };

/** Headers of the owner. `parseHeaders` validates them, because no schema can express the rules. */
export const IsHeaders = (canRemove: boolean, example: object): PropertyDecorator =>
  Field(
    {
      ...{ type: 'object', selfRequired: false, maxProperties: canRemove ? 2 * MAX_HEADERS : MAX_HEADERS },
      ...{ propertyNames: { pattern: HEADER_NAME.source }, nullable: true },
      additionalProperties: canRemove ? { ...HEADER, nullable: true } : HEADER,
      example,
    },
    ParsedField((value) => parseHeaders(value, canRemove)),
  );
