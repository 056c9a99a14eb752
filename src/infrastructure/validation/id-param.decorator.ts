import { Param } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { invalid } from '../errors/api-error';
import { messageFor } from '../errors/messages';

export const ID_PARAMS = 'validation:ids';

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Validates that a path segment is a UUID (otherwise returns 400), and documents it. */
export const IdParam =
  (name: string, description: string): ParameterDecorator =>
  (target, method, index) => {
    Param(name)(target, method, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, method as string);
    if (!descriptor) return;
    ApiParam({ name, description, type: String, format: 'uuid' })(target, method as string, descriptor);
    const handler = descriptor.value as object;
    const others = (Reflect.getMetadata(ID_PARAMS, handler) ?? []) as string[];
    Reflect.defineMetadata(ID_PARAMS, [name, ...others], handler);
  };

/**
 * Returns a UUID in lower case.
 * @throws ApiError 400 when the text is not a UUID
 */
export function idOf(name: string, text: string): string {
  if (!UUID.test(text)) throw invalid(name, messageFor.notAnId(text));
  return text.toLowerCase();
}
