import { invalid } from '../errors/api-error';
import { messageFor } from '../errors/messages';
import { PathParam } from './path-param.decorator';

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Validates that a path segment is a UUID (otherwise returns 400), and documents it. */
export const IdParam = (name: string, description: string): ParameterDecorator =>
  PathParam({ name, description, type: String, format: 'uuid', parse: (text) => idOf(name, text) });

/**
 * Returns a UUID in lower case.
 * @throws ApiError 400 when the text is not a UUID
 */
export function idOf(name: string, text: string): string {
  if (!UUID.test(text)) throw invalid(name, messageFor.notAnId(text));
  return text.toLowerCase();
}
