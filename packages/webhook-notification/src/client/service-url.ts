/** Fields of a query. A list becomes one parameter for each of its values; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/**
 * The address of a service without its last slash, with the path that a proxy has put before it.
 * @throws TypeError when it is not an absolute http: or https: URL, or has a password, a query or a fragment
 */
export function serviceUrl(url: unknown): string {
  const text = url instanceof URL ? url.href : url;
  if (typeof text !== 'string' || !URL.canParse(text)) {
    throw new TypeError('createClient needs the url of the service, such as https://hooks.example.com');
  }
  const { protocol, username, password, search, hash, origin, pathname } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TypeError(`The url of the service must begin with http: or https:, not ${protocol}`);
  }
  if (username || password || search || hash) {
    throw new TypeError('The url of the service must have no user, password, query or fragment.');
  }
  return origin + pathname.replace(/\/+$/, '');
}

/**
 * The address of a route, such as `/api/webhooks/{id}`, with its parameters filled in.
 * @throws TypeError when a parameter is missing, or would lead to another route
 */
export function routeUrl(base: string, route: string, params: Readonly<Record<string, string>> = {}): string {
  return (
    base +
    route.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const value: unknown = params[name];
      // Dots survive encodeURIComponent, and fetch takes them for folders.
      if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) {
        throw new TypeError(`${route} needs ${name}: a text that is not empty.`);
      }
      return encodeURIComponent(value);
    })
  );
}

/** A query as text with its question mark; empty when it has no fields. */
export function queryText(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const each of Array.isArray(value) ? (value as readonly string[]) : [value]) search.append(name, String(each));
  }
  const text = search.toString();
  return text && `?${text}`;
}
