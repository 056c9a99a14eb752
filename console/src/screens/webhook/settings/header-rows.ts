export interface HeaderRow {
  name: string;
  /** Empty for a stored value that stays. */
  value: string;
  /** The service has a value, which it does not show. */
  isStored: boolean;
}

export const storedRows = (headers: Readonly<Record<string, unknown>>): HeaderRow[] =>
  Object.keys(headers).map((name) => ({ name, value: '', isStored: true }));

/** Returns what `PATCH` changes: the typed values by name, and null for each stored header without a row. */
export function headerChanges(
  headers: Readonly<Record<string, unknown>>,
  rows: readonly HeaderRow[],
): Record<string, string | null> {
  const named = rows.map(({ name, ...row }) => ({ ...row, name: name.trim() }));
  const names = new Set(named.map(({ name }) => name.toLowerCase()));
  const removed = Object.keys(headers).filter((name) => !names.has(name.toLowerCase()));
  const typed = named.filter(({ name, value, isStored }) => (isStored ? value !== '' : name !== '' || value !== ''));
  return Object.fromEntries([
    ...removed.map((name): [string, null] => [name, null]),
    ...typed.map(({ name, value }): [string, string] => [name, value]),
  ]);
}

const originOf = (url: string): string | null => URL.parse(url)?.origin ?? null;

/** True when stored headers, which belong to an origin, would not be sent to this URL. */
export const leavesOrigin = (stored: string, next: string): boolean =>
  originOf(next) !== null && originOf(next) !== originOf(stored);
