import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { BUILT_IN_EVENTS, isEventName, nameProblem, twinOf } from 'webhook-notification/catalogue';
import { parseEgressProxy } from '../destinations/egress-proxy';
import { isDnsServer, parseNetwork } from '../destinations/network';
import { urlOf } from '../destinations/url';
import { OWN_PREFIX, parseHeaderPrefixes } from './header-prefixes';
import { parseRedisUrl } from './redis-nodes';
import { parseQueueName, type QueueName } from './queue-name';

/** A setting that `parse` reads. When `parse` returns undefined, the problem reads "must be" and `rule`. */
export function setting<T>(rule: string, parse: (text: string) => T | undefined) {
  return z.string().transform((text, context) => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: `must be ${rule}` });
    return z.NEVER;
  });
}

const number = (min: number, max: number, pattern: RegExp, kind: string) =>
  setting(`${kind} from ${min} to ${max}`, (text) => {
    const value = pattern.test(text) ? Number(text) : NaN;
    return value >= min && value <= max ? value : undefined;
  });

const shownNumber = (fallback: number, min: number, max: number) => ({
  shown: `${fallback} (${min}..${max})`,
  example: String(fallback),
});

/** A whole number from `min` to `max`; `fallback` when the setting is missing. */
export const integer = (fallback: number, min: number, max: number) =>
  number(min, max, /^\d{1,15}$/, 'a whole number')
    .default(fallback)
    .meta(shownNumber(fallback, min, max));

/** A decimal number from `min` to `max`; `fallback` when not set. */
export const decimal = (fallback: number, min: number, max: number) =>
  number(min, max, /^\d{1,15}(\.\d{1,15})?$/, 'a number')
    .default(fallback)
    .meta(shownNumber(fallback, min, max));

/** A TCP port from 1 to 65535; null when not set. */
export const optionalPort = number(1, 65_535, /^\d{1,5}$/, 'a whole number')
  .nullable()
  .default(null);

const trueOrFalse = setting('true or false', (text) => (text === 'true' ? true : text === 'false' ? false : undefined));

export const optionalFlag = trueOrFalse.optional();

/** `true` or `false`, in lower case. */
export const flag = (fallback: boolean) =>
  trueOrFalse.default(fallback).meta({ shown: String(fallback), example: String(fallback) });

export const oneOf = <const T extends string>(values: readonly T[], fallback: NoInfer<T>) =>
  setting(`one of ${values.join(', ')}`, (text) => values.find((value) => value === text))
    .prefault(fallback)
    .meta({ shown: `\`${fallback}\``, example: fallback });

export const text = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .meta({ shown: `\`${fallback}\``, example: fallback });

/** Any text; null when the setting is missing. */
export const optionalText = z.string().nullable().default(null);

/** Splits a comma-separated text into trimmed parts. Empty parts are dropped. */
export const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** A URL of one of `protocols`; null when not set. */
export const url = (rule: string, protocols: readonly string[]) =>
  setting(rule, (text) => (isUrlOf(text, protocols) ? text : undefined))
    .nullable()
    .default(null);

/** A URL of PostgreSQL; that of a socket has no host: `postgres://user:password@/database?host=/folder`. */
export const databaseUrl = setting('a postgres:// URL', (text) => {
  const withHost = /[?&]host=(\/|%2F)/i.test(text) ? text.replace(/^(\w+:\/\/[^/?#]*@|\w+:\/\/)\//, '$1socket/') : text;
  return isUrlOf(withHost, ['postgres:', 'postgresql:']) ? text : undefined;
})
  .nullable()
  .default(null);

/** True where an @ / ? or # of a password ends it: parts of it would become the host, and be logged. */
export function hasOpenPassword(text: string): boolean {
  const [, authority = '', rest = ''] = /^[a-z+]+:\/\/([^/?#]*)([^]*)$/i.exec(text) ?? [];
  const [path = ''] = rest.split('?');
  return authority.split('@').length > 2 || path.includes('@') || /^[?#][^@]*@[^/]+\//.test(rest);
}

/** True for a URL of one of these protocols that names exactly one host. */
function isUrlOf(text: string, protocols: readonly string[]): boolean {
  const url = urlOf(text);
  return url !== undefined && protocols.includes(url.protocol) && url.host !== '' && !text.includes(',');
}

/** A URL that `parseRedisUrl` accepts, in its canonical form; null when not set. */
export const redisUrl = setting(
  'one redis:// or rediss:// URL, or the comma-separated ones of a cluster: alike but for host and port, without a database; ' +
    'or redis+sentinel://host:port,host:port/master',
  (text) => parseRedisUrl(text) ?? undefined,
)
  .nullable()
  .default(null);

/** A proxy that `parseEgressProxy` accepts; null when not set. */
export const egressProxy = setting(
  'http://host:port or https://host:port, with user:password@ before the host if it requires them, both percent-encoded',
  (text) => parseEgressProxy(text) ?? undefined,
)
  .nullable()
  .default(null);

/** One or more keys of 32 bytes, in canonical base64. */
export const keys = setting(
  '32 bytes in base64 (several: comma-separated), for example from `openssl rand -base64 32`',
  (text) => {
    const decoded = list(text).map((part) => Buffer.from(part, 'base64'));
    const canonical = decoded.length > 0 && decoded.every((key, i) => key.toString('base64') === list(text)[i]);
    return canonical && decoded.every((key) => key.length === 32) ? decoded : undefined;
  },
);

export const networks = setting(
  'comma-separated CIDRs such as 10.1.0.0/16, with a prefix of at least /8 (IPv6: /16)',
  (text) => (list(text).every((part) => parseNetwork(part) !== null) ? list(text) : undefined),
);

/** Origins of pages: `https:`, or `http:` of a loopback host. */
export const origins = setting(
  'comma-separated origins such as https://app.example; http: only for localhost, 127.0.0.1 or [::1]',
  (text) => (list(text).every(isOrigin) ? list(text) : undefined),
);

/** A name or an address. URLs allow more, such as `*` and `;`, which mean something in headers. */
const HOSTNAME = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/;

function isOrigin(text: string): boolean {
  const url = urlOf(text);
  if (!url) return false;
  const { origin, protocol, hostname } = url;
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return origin === text && HOSTNAME.test(hostname) && (protocol === 'https:' || (protocol === 'http:' && isLoopback));
}

const NAME = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,40}$/u;

export const consoleName = setting(
  '1 to 40 printable characters, and none that changes the direction of text',
  (text) => (NAME.test(text) && text.trim() === text ? text : undefined),
);

export const certificates = setting('the path of a file with certificates in PEM', (text) => {
  const found = text.match(PEM_CERTIFICATE) ?? [];
  return found.length > 0 && found.every(isCertificate) ? found : undefined;
});

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** DNS servers as `address[:port]`. */
export const dnsServers = setting('comma-separated IP addresses, each with an optional :port', (text) => {
  return list(text).every(isDnsServer) ? list(text) : undefined;
});

export const headerPrefixes = setting(
  'one or two different prefixes such as `x-acme`, comma-separated: at most 32 characters each, lower-case letters and digits with hyphens between, and none of a header that webhooks must not set',
  parseHeaderPrefixes,
)
  .prefault(OWN_PREFIX)
  .meta({ shown: `\`${OWN_PREFIX}\``, example: OWN_PREFIX });

export const userAgent = setting('1 to 128 visible ASCII characters', (text) =>
  /^[!-~]{1,128}$/.test(text) ? text : undefined,
);

/** Names of additional events. Each invalid entry is a separate problem. */
export const eventNames = z.string().transform((text, context) => {
  const names = list(text);
  for (const [i, name] of names.entries()) {
    const twin = twinOf(name, [...BUILT_IN_EVENTS, ...names.slice(0, i)]);
    const problem =
      names.indexOf(name) < i
        ? 'is there twice'
        : (nameProblem(name) ?? (twin ? `differs from ${twin} only in case` : null));
    if (!problem) continue;
    // Do not quote a text that is not an event name: it may be a secret.
    const entry = isEventName(name) ? `, ${name},` : '';
    context.addIssue({ code: 'custom', message: `cannot be used: entry ${i + 1}${entry} ${problem}` });
  }
  return names;
});

export const queueNames = setting(
  'comma-separated names of BullMQ queues, each `name` or `prefix:name`, and none of the service itself',
  (text) => {
    const names = list(text).map(parseQueueName);
    return names.every((name): name is QueueName => name !== null) ? names : undefined;
  },
);
