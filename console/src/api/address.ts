import { urlOf } from './base';
import type { paths } from './openapi';

declare const isEncoded: unique symbol;
/** An address that `encoded` has made. */
export type Encoded = string & { readonly [isEncoded]: true };

type Constant<Route> = Route extends `/api/${infer Path}` ? (Path extends `${string}{${string}` ? never : Path) : never;
/** A path of the API, such as `webhooks`: one that is written out, or one whose values are encoded. No other text will do. */
export type ApiPath = Constant<keyof paths> | Encoded;

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** What ids and names are made of: nothing that a path is divided by, in any encoding. */
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9_.~:@-]+$/;

/**
 * The address with its values encoded, for the API (encoded`webhooks/${id}`) and for links (encoded`/events/${id}`). This is
 * the one place where a value becomes part of an address.
 * @throws TypeError when a value in the path is not an id or a name. Encoding it would not do: dots survive, and proxies
 *   decode what they forward.
 */
export function encoded([first = '', ...rest]: TemplateStringsArray, ...values: readonly (string | number)[]): Encoded {
  return rest.reduce((before, after, i) => {
    const value = String(values[i]);
    if (!before.includes('?') && !SEGMENT.test(value)) throw new TypeError(`“${value}” is not an id or a name.`);
    return before + encodeURIComponent(value) + after;
  }, first) as Encoded;
}

/** A query as text with its question mark; empty when it has no fields. */
export function queryOf(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [value].flat().map((one) => [name, String(one)]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}

/** The url of a route of the API. */
export const apiUrlOf = (path: ApiPath, query?: Query): string => urlOf(`api/${path}`) + queryOf(query);
