import { invalid } from '../errors/api-error';
import { messageFor } from '../errors/messages';

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns a UUID in lower case.
 * @throws ApiError 400 when the text is not a UUID
 */
export function idOf(name: string, text: string): string {
  if (!UUID.test(text)) throw invalid(name, messageFor.notAnId(text));
  return text.toLowerCase();
}
