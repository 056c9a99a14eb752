import { type ArgumentMetadata, type ValidationError, ValidationPipe } from '@nestjs/common';
import { ApiError } from '../errors/api-error';
import { messageFor } from '../errors/messages';

/** Validates bodies and queries against their DTOs. It rejects unknown fields, and never guesses a conversion. */
class DtoPipe extends ValidationPipe {
  /** Every object inherits `constructor`, `toString` and the like, so class-validator treats them as known fields. */
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const inherited = ownKeys(value, metadata).filter((key) => key in Object.prototype);
    if (inherited.length > 0) throw new ApiError(400, inherited.map(messageFor.unknownField).join('; '));
    return super.transform(value, metadata) as Promise<unknown>;
  }
}

/** The pipe for all routes. An invalid value returns 400, with every error in one message. */
export const validationPipe = (): ValidationPipe =>
  new DtoPipe({
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    transform: true,
    stopAtFirstError: true,
    exceptionFactory: (errors) => new ApiError(400, messagesOf(errors).join('; ')),
  });

/** Returns the fields of a DTO as sent. A value that no DTO describes, such as the data of an event, has the type `Object`. */
function ownKeys(value: unknown, { type, metatype }: ArgumentMetadata): string[] {
  const described = (type === 'body' || type === 'query') && metatype !== undefined && metatype !== Object;
  return described && typeof value === 'object' && value !== null ? Object.keys(value) : [];
}

function messagesOf(errors: ValidationError[], path = ''): string[] {
  return errors.flatMap((error) => [
    ...Object.entries(error.constraints ?? {}).map(([rule, text]) =>
      rule === 'whitelistValidation' ? messageFor.unknownField(`${path}${error.property}`) : `${path}${text}`,
    ),
    ...messagesOf(error.children ?? [], `${path}${error.property}.`),
  ]);
}
