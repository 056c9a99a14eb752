import { isRefused, isRefusedPrefix } from './refused-headers';

/** The prefix under which `x-service-signature` is always sent. */
export const OWN_PREFIX = 'x-service';

const PREFIX = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const MAX_LENGTH = 32;
const MAX_PREFIXES = 2;
const PARTS = ['signature', 'signature-previous', 'event', 'delivery', 'attempt', 'trigger', 'subject'] as const;

/** The names of the headers of the service under one prefix. */
export type HeaderNames = Readonly<Record<(typeof PARTS)[number], string>>;

/** Returns the prefixes in a text, one or two separated by a comma; undefined for any other text. */
export function parseHeaderPrefixes(text: string): string[] | undefined {
  const prefixes = text.split(',').map((each) => each.trim());
  const isList = prefixes.length <= MAX_PREFIXES && new Set(prefixes).size === prefixes.length;
  return isList && prefixes.every(isPrefix) ? prefixes : undefined;
}

function isPrefix(text: string): boolean {
  return PREFIX.test(text) && text.length <= MAX_LENGTH && (text === OWN_PREFIX || !isRefusedPrefix(text));
}

export const headerNames = (prefix: string): HeaderNames =>
  Object.fromEntries(PARTS.map((part) => [part, `${prefix}-${part}`])) as HeaderNames;

/** Whether an owner must not set a header: it is refused in any case, or the service sends it under one of these prefixes. */
export const isReservedHeader = (name: string, prefixes: readonly string[]): boolean =>
  isRefused(name) || prefixes.some((prefix) => Object.values(headerNames(prefix)).includes(name.toLowerCase()));
