import { invalid, messageFor } from '../errors/api-error';

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns a UUID in lower case; throws a 400 for any other text. */
export function idOf(name: string, text: string): string {
  if (!UUID.test(text)) throw invalid(name, messageFor.notAnId(text));
  return text.toLowerCase();
}
