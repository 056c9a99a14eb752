/** Fields of a query. A list becomes one parameter for each of its values; undefined fields are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/**
 * Returns the URL of a text; undefined when it is not one. Node 20's `URL.canParse` returns false for a valid URL with `ü` once V8
 * has optimized the calls.
 */
export function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the URL of a service without its trailing slash, with the path prefix of a proxy if there is one.
 * @throws TypeError when it is not an absolute http: or https: URL, or has a password, a query or a fragment
 */
export function serviceUrl(url: unknown): string {
  const text = url instanceof URL ? url.href : url;
  const parsed = typeof text === 'string' ? urlOf(text) : undefined;
  if (!parsed) throw new TypeError('createClient needs the url of the service, such as https://hooks.example.com');
  const { protocol, username, password, search, hash, origin, pathname } = parsed;
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TypeError(`The url of the service must begin with http: or https:, not ${protocol}`);
  }
  if (username || password || search || hash) {
    throw new TypeError('The url of the service must have no user, password, query or fragment.');
  }
  return origin + pathname.replace(/\/+$/, '');
}

/**
 * Returns the URL of a route, such as `/api/webhooks/{id}`, with its parameters filled in.
 * @throws TypeError when a parameter is missing, or would lead to another route
 */
export function routeUrl(base: string, route: string, params: Readonly<Record<string, string>> = {}): string {
  return (
    base +
    route.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value: unknown = params[name];
      // encodeURIComponent does not encode dots, and fetch resolves them as path segments.
      if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) {
        throw new TypeError(`${route} needs ${name}: a text that is not empty.`);
      }
      return encodeURIComponent(value);
    })
  );
}

/** Returns a query as text with its question mark; empty when it has no fields. */
export function queryText(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const each of Array.isArray(value) ? (value as readonly string[]) : [value]) search.append(name, String(each));
  }
  const text = search.toString();
  return text && `?${text}`;
}
