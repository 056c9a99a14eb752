import { isIP } from 'node:net';
import { AddressPolicy, type AddressVerdict, LOCALHOST_ADDRESSES, TUNNELS } from './address';

export interface UrlOptions {
  readonly requireHttps: boolean;
}

export type UrlVerdict =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly code: 'invalid' | 'destination_blocked'; readonly reason: string };

export type StoredUrlVerdict = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly rule: string };

const MAX_URL_LENGTH = 2048;
const NOT_A_URL = 'Enter a full URL that begins with http:// or https://';

/**
 * Validates the url that a user gives for a webhook. It must be an absolute `http:` or `https:` URL (WHATWG URL,
 * written with `//`) of at most 2048 UTF-16 units, as given and in canonical form. It must not contain user info, a
 * fragment, a backslash, white space, a control character or port 0, nor a special-purpose address in any spelling
 * unless the policy allows it. Names are checked when a connection is made, except `localhost` names. Returns the
 * canonical (punycode) form, or a message that names the setting that could allow the url. Never throws.
 */
export function validateUrl(text: unknown, policy: AddressPolicy, options: UrlOptions): UrlVerdict {
  const url = parse(text);
  if (typeof url === 'string') return { ok: false, code: 'invalid', reason: url };
  if (isTooPlain(url, options)) return blocked('url must use https, because REQUIRE_HTTPS is on');
  const verdict = classifyHost(url.hostname, policy);
  if (verdict.allowed) return { ok: true, url: url.href };
  const exception = TUNNELS.includes(verdict.rule) ? '' : ' unless ALLOWED_NETWORKS lists it';
  return blocked(`url must not point to a special-purpose address (${verdict.rule})${exception}`);
}

const blocked = (reason: string): UrlVerdict => ({ ok: false, code: 'destination_blocked', reason });

/** Validates a stored url before it is used: the settings may be stricter now. `rule` names the rule that forbids it. */
export function validateStoredUrl(text: string, policy: AddressPolicy, options: UrlOptions): StoredUrlVerdict {
  const url = parse(text);
  if (typeof url === 'string') return { ok: false, rule: 'malformed url' };
  if (isTooPlain(url, options)) return { ok: false, rule: 'plain http' };
  const verdict = classifyHost(url.hostname, policy);
  return verdict.allowed ? { ok: true, url } : { ok: false, rule: verdict.rule };
}

/** True for `localhost` and the names below it, in upper or lower case, with or without trailing dots. */
export function isLocalhost(hostname: string): boolean {
  return /(^|\.)localhost\.*$/i.test(hostname);
}

/** Returns the name for SNI and the certificate: without its trailing dot (RFC 6066, section 3), and never an address. */
export function serverName(hostname: string): string | undefined {
  return isIP(hostname) === 0 ? hostname.replace(/\.+$/, '') : undefined;
}

function parse(text: unknown): URL | string {
  if (typeof text !== 'string' || text === '') return NOT_A_URL;
  if (text.length > MAX_URL_LENGTH) return `url must be at most ${MAX_URL_LENGTH} characters long`;
  if (/[\s\p{Cc}\p{Cs}]/u.test(text)) return 'url must not contain spaces or control characters';
  if (text.includes('\\')) return 'url must not contain a backslash';
  if (text.includes('#')) return 'url must not have a fragment (#)';
  // The WHATWG parser also accepts `http:host` and `http:///host`, but parsers disagree on the host of these.
  const authority = /^https?:\/\/([^/?]+)/i.exec(text)?.[1];
  if (authority === undefined) return NOT_A_URL;
  if (authority.includes('@')) return 'url must not contain a user name or password';
  const url = urlOf(text);
  if (url === undefined || url.port === '0') return 'url must be a valid URL with a host and a port from 1 to 65535';
  return url.href.length > MAX_URL_LENGTH ? `url must be at most ${MAX_URL_LENGTH} characters long once encoded` : url;
}

/**
 * Returns the URL of a text, resolved against `base` if given; undefined when there is none. Node 20's `URL.canParse` returns false
 * for a valid URL with `ü` once V8 has optimized the calls.
 */
export function urlOf(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

function isTooPlain(url: URL, options: UrlOptions): boolean {
  return options.requireHttps && url.protocol !== 'https:';
}

function classifyHost(hostname: string, policy: AddressPolicy): AddressVerdict {
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  if (isIP(host) !== 0) return policy.classify(host);
  if (!isLocalhost(host)) return { allowed: true };
  // One allowed address is enough: connections are made only to allowed ones.
  const isReachable = LOCALHOST_ADDRESSES.some((address) => policy.classify(address).allowed);
  return isReachable ? { allowed: true } : { allowed: false, rule: 'loopback' };
}
