import { type ValidationError, ValidationPipe } from '@nestjs/common';
import { ApiError } from '../errors/api-error';

/** Checks bodies and queries against their DTOs: unknown fields are refused and nothing is converted by guessing. */
export const validationPipe = (): ValidationPipe =>
  new ValidationPipe({
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    transform: true,
    stopAtFirstError: true,
    exceptionFactory: (errors) => new ApiError(400, sentences(errors).join('; ')),
  });

function sentences(errors: ValidationError[], path = ''): string[] {
  return errors.flatMap((error) => [
    ...Object.entries(error.constraints ?? {}).map(([rule, text]) =>
      rule === 'whitelistValidation' ? `${path}${error.property} is not a known field` : `${path}${text}`,
    ),
    ...sentences(error.children ?? [], `${path}${error.property}.`),
  ]);
}
