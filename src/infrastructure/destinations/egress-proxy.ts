import { urlOf } from './url';

export interface EgressProxy {
  readonly isTls: boolean;
  /** A name, or an address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The value of `proxy-authorization` (RFC 7617, in UTF-8); null without user and password. */
  readonly authorization: string | null;
}

/** Parses `http(s)://[user:password@]host:port`, with user and password percent-encoded. Returns null for any other text. */
export function parseEgressProxy(text: string): EgressProxy | null {
  const url = /^https?:\/\/[^\s/\\?#]+:\d+\/?$/i.test(text) ? urlOf(text) : undefined;
  if (!url) return null;
  const { protocol, hostname, port, username, password } = url;
  const authorization = basicOf(username, password);
  if (port === '0' || authorization === undefined) return null;
  const isTls = protocol === 'https:';
  // The URL omits the default port.
  return { isTls, hostname: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (isTls ? 443 : 80), authorization };
}

function basicOf(username: string, password: string): string | null | undefined {
  if (username === '' && password === '') return null;
  try {
    const user = decodeURIComponent(username);
    if (user.includes(':')) return undefined;
    return `Basic ${Buffer.from(`${user}:${decodeURIComponent(password)}`).toString('base64')}`;
  } catch {
    return undefined;
  }
}

/**
 * Returns true when `NO_PROXY` lists the host of a url: an entry is a name, which includes the names below it, an address,
 * or `*` for every host, and may end with a port.
 */
export function isExempt(url: string, noProxy: string | null): boolean {
  const { hostname, port, protocol } = new URL(url);
  const ofUrl = port || (protocol === 'https:' ? '443' : '80');
  return (noProxy ?? '').split(/[\s,]+/).some((entry) => {
    const [, host = '', portOfEntry = ofUrl] = /^(.*?)(?::(\d+))?$/.exec(bracketed(entry)) ?? [];
    const name = host.toLowerCase().replace(/^\*?\.(?=.)/, '');
    return portOfEntry === ofUrl && (name === '*' || (name !== '' && `.${hostname}`.endsWith(`.${name}`)));
  });
}

const bracketed = (entry: string): string => (/^[\da-f]*:[\da-f]*:[\da-f.:]*$/i.test(entry) ? `[${entry}]` : entry);
