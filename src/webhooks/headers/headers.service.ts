import { Injectable } from '@nestjs/common';
import { ApiError, messageFor } from '../../infrastructure/errors/api-error';
import { headerContext } from '../secrets/secret-box';
import { SecretsService } from '../secrets/secrets.service';
import { type HeaderChanges, requireFit, type SealedHeaders } from './header-rules';

/** The part of a webhook that its headers depend on. All of them are sealed for the origin of `url`. */
interface WithHeaders {
  id: string;
  url: string;
  headers: SealedHeaders;
}

/** Seals the values of headers for a webhook and the origin of its url, so that no other origin ever receives them. */
@Injectable()
export class HeadersService {
  constructor(private readonly secrets: SecretsService) {}

  seal(id: string, url: string, headers: Readonly<Record<string, string>>): SealedHeaders {
    return mapValues(headers, (value, name) =>
      this.secrets.seal(headerContext(id, url, name), value).toString('base64'),
    );
  }

  /** Decrypts the headers that may be sent to `url`; omits those that no key opens. */
  open({ id, url, headers }: WithHeaders): Record<string, string> {
    const opened = Object.entries(headers).map(([name, sealed]): [string, string | null] => [
      name,
      this.secrets.open(headerContext(id, url, name), Buffer.from(sealed, 'base64')),
    ]);
    return Object.fromEntries(opened.filter((entry): entry is [string, string] => entry[1] !== null));
  }

  /**
   * Returns the sealed headers of a webhook after a change: those of `changes` replace others of the same name, null removes.
   * @param url the url after the change
   * @param changes undefined: no change of headers; null removes all
   * @throws ApiError 409 when the origin changes and a header is neither set anew nor removed, 400 when they are too many
   */
  change(before: WithHeaders, url: string, changes: HeaderChanges | null | undefined): SealedHeaders {
    if (changes === undefined && isSameOrigin(url, before.url)) return before.headers;
    const named = new Set(Object.keys(changes ?? {}).map(lower));
    const kept = entriesOf(changes === null ? {} : before.headers).filter(([name]) => !named.has(lower(name)));
    if (kept.length > 0 && !isSameOrigin(url, before.url)) {
      const names = kept.map(([name]) => name);
      throw new ApiError('headers_bound_to_origin', messageFor.headersBoundToOrigin(names));
    }
    const set = entriesOf(changes ?? {}).filter((entry): entry is [string, string] => entry[1] !== null);
    const keptHeaders = Object.fromEntries(kept);
    requireFit({ ...this.open({ ...before, headers: keptHeaders }), ...Object.fromEntries(set) });
    return { ...keptHeaders, ...this.seal(before.id, url, Object.fromEntries(set)) };
  }

  /**
   * Returns the changes that make `wanted` the only headers of a webhook, in a body of `PATCH`.
   * @param wanted undefined: the webhook keeps its headers; null: none
   */
  replacement(before: SealedHeaders, wanted: HeaderChanges | null | undefined): HeaderChanges | undefined {
    if (wanted === undefined) return undefined;
    const names = new Set(Object.keys(wanted ?? {}).map(lower));
    const removed = Object.keys(before).filter((name) => !names.has(lower(name)));
    return { ...wanted, ...Object.fromEntries(removed.map((name) => [name, null])) };
  }

  /**
   * Returns the changes in a body of `PATCH` that change something; no `headers` if none does.
   * @param url the url after the change
   */
  needed(
    before: WithHeaders,
    url: string,
    changes: HeaderChanges | null | undefined,
  ): { headers?: HeaderChanges | null } {
    if (changes === null) return Object.keys(before.headers).length > 0 ? { headers: null } : {};
    const current = isSameOrigin(before.url, url) ? this.open(before) : {};
    const names = new Set(Object.keys(before.headers).map(lower));
    const needed = entriesOf(changes ?? {}).filter(([name, value]) =>
      value === null ? names.has(lower(name)) : current[name] !== value,
    );
    return needed.length > 0 ? { headers: Object.fromEntries(needed) } : {};
  }
}

const isSameOrigin = (a: string, b: string): boolean => new URL(a).origin === new URL(b).origin;

const lower = (name: string): string => name.toLowerCase();

const entriesOf = <Value>(record: Readonly<Record<string, Value>>): [string, Value][] => Object.entries(record);

const mapValues = <In, Out>(record: Readonly<Record<string, In>>, map: (value: In, name: string) => Out) =>
  Object.fromEntries(entriesOf(record).map(([name, value]) => [name, map(value, name)]));
