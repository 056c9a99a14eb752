import { isIP } from 'node:net';
import { urlOf } from '../../infrastructure/destinations/url';

export const PROVIDERS = ['mastodon', 'bluesky', 'push'] as const;

export type Provider = (typeof PROVIDERS)[number];

export type HandleVerdict =
  | {
      readonly ok: true;
      readonly handle: string;
      /** URL of the server to query, if the handle names the server. */
      readonly url?: string;
    }
  | { readonly ok: false; readonly reason: string };

const MASTODON = /^@?([A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?)@([^@/?#\\\s]{1,255})$/;
/** A domain name in the form that AT Protocol allows for a handle. */
const BLUESKY = /^@?((?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)$/;
const PUSH = /^[^\p{Cc}\p{Cs}\s](?:[^\p{Cc}\p{Cs}]{0,254}[^\p{Cc}\p{Cs}\s])?$/u;

/** Returns the handle of an account in its canonical form, or a message about the expected form. */
export function validateHandle(provider: Provider, text: string): HandleVerdict {
  switch (provider) {
    case 'mastodon':
      return validateMastodon(text);
    case 'bluesky': {
      const handle = BLUESKY.exec(text.toLowerCase())?.[1];
      return handle === undefined
        ? { ok: false, reason: 'handle must be a Bluesky handle such as ada.bsky.social' }
        : { ok: true, handle };
    }
    case 'push':
      return PUSH.test(text)
        ? { ok: true, handle: text }
        : { ok: false, reason: 'handle must be 1 to 256 characters without control characters or outer spaces' };
  }
}

export function partsOfMastodonHandle(handle: string): { readonly user: string; readonly origin: string } {
  const at = handle.lastIndexOf('@');
  return { user: handle.slice(0, at), origin: `https://${handle.slice(at + 1)}` };
}

function validateMastodon(text: string): HandleVerdict {
  const refused = { ok: false, reason: 'handle must be a Mastodon handle such as ada@mastodon.social' } as const;
  const [, user, server] = MASTODON.exec(text) ?? [];
  const url = server === undefined ? undefined : urlOf(`https://${server}/`);
  if (url === undefined || url.port === '0') return refused;
  const isAddress = isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0;
  if (!isAddress && !url.hostname.includes('.') && url.hostname !== 'localhost') return refused;
  return { ok: true, handle: `${user}@${url.host}`, url: url.href };
}
