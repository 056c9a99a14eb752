import { invalidField, type FieldError } from 'webhook-notification/catalogue';

export const MAX_FIELDS = 50;
export const MAX_PATH = 256;
/** Names with dots between; PostgreSQL stores neither NUL nor lone surrogates. */
export const FIELD_PATH = /^[^.\p{Cs}\0]+(\.[^.\p{Cs}\0]+)*$/u;
const RULE = `must be at most ${MAX_FIELDS} paths below data, such as customer.id, each of at most ${MAX_PATH} characters`;

/** Returns the paths that a request sets, or the error of the field. Null: all of the data. */
export function parseFieldPaths(value: unknown): { paths: string[] | null } | { error: FieldError } {
  if (value === null) return { paths: null };
  const isList = Array.isArray(value) && value.length <= MAX_FIELDS && value.every(isPath);
  return isList ? { paths: value as string[] } : { error: invalidField('fields', RULE) };
}

const isPath = (path: unknown): boolean => typeof path === 'string' && path.length <= MAX_PATH && FIELD_PATH.test(path);

/** What is wanted of a value: null for all of it, otherwise the members with these names. */
export type WantedFields = ReadonlyMap<string, WantedFields | null>;

/** Returns the tree of paths. A path covers those that continue it. */
export function wantedFields(paths: readonly string[]): WantedFields {
  const root = new Map<string, WantedFields | null>();
  for (const path of paths) {
    const names = path.split('.');
    const last = names.pop() as string;
    let inner: Map<string, WantedFields | null> | null = root;
    for (const name of names) {
      if (!inner.has(name)) inner.set(name, new Map());
      inner = inner.get(name) as Map<string, WantedFields | null> | null;
      if (inner === null) break;
    }
    inner?.set(last, null);
  }
  return root;
}
