import { urlOf } from '../../../infrastructure/destinations/url';

/** A target, a parameter, or any other character of a `Link` header (RFC 8288, section 3). */
const TOKEN = /<([^<>]*)>|;\s*([^\s=;,"]+)(?:\s*=\s*(?:"([^"]*)"|([^\s;,"]*)))?|[^]/g;

/**
 * Returns the target of the first link with `rel="next"`, resolved against the page's own URL and without a fragment,
 * which is never sent to servers; null if the page has none.
 */
export function nextLink(header: string | string[] | undefined, page: URL): URL | null {
  const text = Array.isArray(header) ? header.join(', ') : (header ?? '');
  let link: string | undefined;
  for (const [token, target, parameter, quoted, plain] of text.matchAll(TOKEN)) {
    if (target !== undefined) link = target;
    else if (token === ',') link = undefined;
    const isNext = parameter?.toLowerCase() === 'rel' && relations(quoted ?? plain).includes('next');
    const url = isNext && link !== undefined ? urlOf(link, page.href) : undefined;
    if (!url) continue;
    url.hash = '';
    return url;
  }
  return null;
}

function relations(value = ''): string[] {
  return value.toLowerCase().split(/\s+/);
}
