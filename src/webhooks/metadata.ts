import { type FieldError, invalidField } from 'webhook-notification/catalogue';
import { ApiError } from '../infrastructure/errors/api-error';

const [NAME, VALUE] = ['[A-Za-z0-9][A-Za-z0-9_.-]{0,39}', '[^\\p{Cs}\\0]{0,200}'];
export const METADATA_NAME = new RegExp(`^${NAME}$`);
/** Up to 200 characters of any script. PostgreSQL rejects NUL in a text. */
export const METADATA_VALUE = new RegExp(`^${VALUE}$`, 'u');
/** `name:value`, as a query names a pair. */
export const METADATA_PAIR = new RegExp(`^${NAME}:${VALUE}$`, 'u');
export const MAX_METADATA = 20;

/** Returns the metadata of a webhook as a request sets it: at most 20 texts by name. */
export function parseMetadata(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw ApiError.invalid(invalidField('metadata', 'must be an object of strings; {} clears it'));
  const entries = Object.entries(value);
  if (entries.length > MAX_METADATA)
    throw ApiError.invalid(invalidField('metadata', `must have at most ${MAX_METADATA} entries`));
  const errors = entries.flatMap(([name, text]) => entryErrors(name, text));
  if (errors.length > 0) throw ApiError.invalid(...errors);
  return value as Record<string, string>;
}

function entryErrors(name: string, value: unknown): FieldError[] {
  if (!METADATA_NAME.test(name)) {
    const rule = 'names have 1 to 40 letters, digits, _ . or -, and begin with a letter or digit';
    return [invalidField('metadata', `must not have the name ${JSON.stringify(name.slice(0, 60))}: ${rule}`)];
  }
  if (typeof value === 'string' && METADATA_VALUE.test(value)) return [];
  const field = `metadata.${name}`;
  return [invalidField(field, 'must be well-formed text of at most 200 characters without NUL')];
}

/** Returns the metadata that a pair of a query asks for. Its name ends at the first colon. */
export function metadataOfPair(pair: string): Record<string, string> {
  const colon = pair.indexOf(':');
  return { [pair.slice(0, colon)]: pair.slice(colon + 1) };
}
