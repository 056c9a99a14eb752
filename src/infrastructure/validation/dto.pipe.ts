import { type ArgumentMetadata, type ValidationError, ValidationPipe } from '@nestjs/common';
import type { FieldError } from 'webhook-notification/catalogue';
import { ApiError } from '../errors/api-error';
import { unknownField } from '../errors/messages';

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
   * Every object inherits `constructor`, `toString` and the like, so class-validator treats them as known fields.
   * @throws ApiError 400 that lists every error
   */
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    const inherited = fields.filter(([name]) => name in Object.prototype);
    if (inherited.length === 0) return super.transform(value, metadata) as Promise<unknown>;
    const others = fields.filter((field) => !inherited.includes(field));
    const errors = await this.transform(Object.fromEntries(others), metadata).then(() => [], detailsOf);
    throw ApiError.invalid(...inherited.map(([name]) => unknownField(name)), ...errors);
  }
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
