import { type FieldError, invalidField } from 'webhook-notification/catalogue';
import { isReservedHeader } from '../../infrastructure/config/header-prefixes';
import { isRefused } from '../../infrastructure/config/refused-headers';
import { ApiError } from '../../infrastructure/errors/api-error';

/** Headers by name, as a request sets them. Null removes one that the webhook has. */
export type HeaderChanges = Readonly<Record<string, string | null>>;

/** Sealed values by header name, in base64. */
export type SealedHeaders = Readonly<Record<string, string>>;

export const HEADER_NAME = /^[A-Za-z0-9-]{1,64}$/;
/** Visible ASCII characters, and spaces between them. */
export const HEADER_VALUE = /^[!-~]([ -~]{0,1022}[!-~])?$/;
export const MAX_HEADERS = 10;
/** Of all names and values together, in bytes. */
const MAX_BYTES = 4096;
/** Stands for a value in every response and in the log. */
export const HIDDEN = '•••';

const REFUSED = 'is set by the service or a proxy, and cannot be set here';

/** Returns the errors of headers that the service itself sends under these prefixes. They may be removed. */
export const reservedErrors = (headers: HeaderChanges | null | undefined, prefixes: readonly string[]): FieldError[] =>
  Object.entries(headers ?? {})
    .filter(([name, value]) => value !== null && isReservedHeader(name, prefixes))
    .map(([name]) => invalidField(`headers.${name}`, REFUSED));

/** Returns the headers that a request sets; null clears all. With `canRemove`, a value may be null. */
export function parseHeaders(value: unknown, canRemove: boolean): HeaderChanges | null {
  if (value === null) return null;
  if (typeof value !== 'object' || Array.isArray(value))
    throw refused('headers', 'must be an object of strings, or null');
  const entries = Object.entries(value as object);
  // More could be removed than set, but no webhook has more than these.
  if (entries.length > 2 * MAX_HEADERS) throw refused('headers', `must have at most ${MAX_HEADERS} headers`);
  const names = entries.map(([name]) => name.toLowerCase());
  const errors = entries.flatMap(([name, text], i) =>
    names.indexOf(name.toLowerCase()) < i
      ? [invalidField('headers', `must name ${shown(name)} only once, in whatever case`)]
      : headerErrors(name, text, canRemove),
  );
  if (errors.length > 0) throw ApiError.invalid(...errors);
  requireFit(Object.fromEntries(entries.filter(([, text]) => text !== null)) as Record<string, string>);
  return value as HeaderChanges;
}

/** Refuses the headers of a webhook when they are together more than 10, or more than 4 KiB. */
export function requireFit(headers: Readonly<Record<string, string>>): void {
  const entries = Object.entries(headers);
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (entries.length > MAX_HEADERS) throw refused('headers', `must have at most ${MAX_HEADERS} headers`);
  if (bytes > MAX_BYTES) throw refused('headers', `must have at most ${MAX_BYTES} bytes in all`);
}

function headerErrors(name: string, value: unknown, canRemove: boolean): FieldError[] {
  if (!HEADER_NAME.test(name)) {
    return [
      invalidField('headers', `must not have the name ${shown(name)}: names have 1 to 64 letters, digits or hyphens`),
    ];
  }
  const field = `headers.${name}`;
  if (isRefused(name)) return [invalidField(field, REFUSED)];
  if (value === HIDDEN) return [invalidField(field, `must be the value itself: ${HIDDEN} stands for the stored one`)];
  if (value === null && canRemove) return [];
  if (typeof value === 'string' && HEADER_VALUE.test(value)) return [];
  return [invalidField(field, 'must be 1 to 1024 visible ASCII characters, with spaces only between them')];
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 64));

const refused = (field: string, rule: string): ApiError => ApiError.invalid(invalidField(field, rule));
