import { type ArgumentMetadata, type ValidationError, ValidationPipe } from '@nestjs/common';
import type { FieldError } from 'webhook-notification/catalogue';
import { ApiError } from '../errors/api-error';
import { unknownField } from '../errors/messages';
import { type FieldParser, parsersOf } from './parsed-field.decorator';

/** Validates a body or a query against its DTO. It rejects unknown fields, and never guesses a conversion. */
export class DtoPipe extends ValidationPipe {
  constructor() {
    super({
      whitelist: true,
      forbidNonWhitelisted: true,
      forbidUnknownValues: true,
      transform: true,
      stopAtFirstError: true,
      exceptionFactory: (errors) => ApiError.invalid(...fieldErrorsOf(errors)),
    });
  }

  /**
   * Fields with a parser of their own never meet class-transformer. Nor do those that every object inherits, such as
   * `constructor`, which class-validator would treat as known.
   * @throws ApiError 400 that lists every error
   */
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const parsers = metadata.metatype ? parsersOf(metadata.metatype) : {};
    const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    const [parsed, others] = partition(fields, ([name]) => name in Object.prototype || Object.hasOwn(parsers, name));
    if (parsed.length === 0) return super.transform(value, metadata) as Promise<unknown>;
    const errors: FieldError[] = [];
    const results: Record<string, unknown> = {};
    for (const [name, field] of parsed) {
      try {
        results[name] = parserOf(parsers, name)(field);
      } catch (error) {
        errors.push(...detailsOf(error));
      }
    }
    const dto: unknown = await super
      .transform(Object.fromEntries(others), metadata)
      .catch((error: unknown) => void errors.push(...detailsOf(error)));
    if (errors.length > 0) throw ApiError.invalid(...errors);
    return Object.assign(dto as object, results);
  }
}

const partition = <Item>(items: readonly Item[], fits: (item: Item) => boolean): [Item[], Item[]] => [
  items.filter(fits),
  items.filter((item) => !fits(item)),
];

function parserOf(parsers: Record<string, FieldParser>, name: string): FieldParser {
  if (Object.hasOwn(parsers, name)) return parsers[name] as FieldParser;
  throw ApiError.invalid(unknownField(name));
}

/**
 * Returns the invalid fields of a rejected request.
 * @throws the error when it is another one
 */
export function detailsOf(error: unknown): readonly FieldError[] {
  if (error instanceof ApiError && error.details) return error.details;
  throw error;
}

function fieldErrorsOf(errors: readonly ValidationError[], path = ''): FieldError[] {
  return errors.flatMap(({ property, value, constraints = {}, children = [] }) => {
    const field = `${path}${property}`;
    const own = Object.entries(constraints).map(([rule, text]): FieldError => {
      if (rule === 'whitelistValidation') return unknownField(field);
      return { field, code: value === undefined ? 'required' : 'invalid', message: `${path}${text}` };
    });
    return [...own, ...fieldErrorsOf(children, `${field}.`)];
  });
}
