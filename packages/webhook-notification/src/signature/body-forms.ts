/** One way of serializing a body. `name` completes "the body …". */
export interface BodyForm {
  name: string;
  text: string;
}

const AS_SENT = 'as compact JSON, which is how it is sent';
const KEY_ORDER = ['id', 'event', 'createdAt', 'subject', 'data'];
const MAX_ORDERS = 50_000;

/**
 * Returns the usual forms of a body after parsing and serializing it again: pretty-printed, with sorted keys, with
 * Python's separators, with escaped characters, with a trailing line break. The compact form is the first. Empty when
 * the body is not a JSON object.
 */
export function formsOf(body: string): BodyForm[] {
  const value = parse(body);
  if (value === undefined) return [];
  const compact = JSON.stringify(value);
  const sorted = JSON.stringify(sortKeys(value));
  const forms: BodyForm[] = [
    { name: AS_SENT, text: compact },
    ...[2, 4, '\t'].map((indent) => ({
      name: `pretty-printed with ${indent === '\t' ? 'tabs' : `${indent} spaces`}`,
      text: JSON.stringify(value, null, indent),
    })),
    { name: "as Python's json.dumps writes it", text: escapeNonAscii(spaced(value)) },
    { name: "as Python's json.dumps writes it with ensure_ascii=False", text: spaced(value) },
    { name: 'with its non-ASCII characters escaped as \\u…', text: escapeNonAscii(compact) },
    { name: 'with its keys sorted', text: sorted },
    { name: "with its keys sorted, as Python's json.dumps writes it", text: escapeNonAscii(spaced(sortKeys(value))) },
    { name: 'with slashes escaped, as PHP writes it', text: escapeNonAscii(compact).replaceAll('/', '\\/') },
  ];
  const ended = forms.flatMap(({ name, text }) => [
    { name: `${name}, and a line break at the end`, text: `${text}\n` },
    { name: `${name}, and a CRLF at the end`, text: `${text}\r\n` },
    { name: `${name}, with CRLF as line breaks`, text: text.replaceAll('\n', '\r\n') },
  ]);
  return distinct([...forms, ...ended]);
}

/**
 * Yields the bodies that become this one when their keys are sorted, as compact JSON. The order of the keys is lost, so
 * all orders are tried. Empty when the keys are not sorted, or there are too many orders.
 */
export function* unsorted(body: string): Generator<string> {
  const value = parse(body);
  if (value === undefined || JSON.stringify(value) !== JSON.stringify(sortKeys(value))) return;
  if (countOrders(value) / 24 > MAX_ORDERS) return;
  for (const data of ordersOf((value as { data?: unknown }).data)) {
    const event = Object.entries({ ...(value as object), data }).sort(([a], [b]) => rank(a) - rank(b));
    yield JSON.stringify(Object.fromEntries(event));
  }
}

const rank = (key: string): number => KEY_ORDER.indexOf(key);

function* ordersOf(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) {
    yield value;
    return;
  }
  const entries = Object.entries(value as Record<string, unknown>);
  for (const order of Array.isArray(value) ? [entries] : permutations(entries)) {
    for (const values of product(order.map(([, inner]) => inner))) {
      yield Array.isArray(value) ? values : Object.fromEntries(order.map(([key], i) => [key, values[i]] as const));
    }
  }
}

function* product(values: unknown[]): Generator<unknown[]> {
  const [first, ...rest] = values;
  if (values.length === 0) {
    yield [];
    return;
  }
  for (const head of ordersOf(first)) for (const tail of product(rest)) yield [head, ...tail];
}

function* permutations<T>(items: T[]): Generator<T[]> {
  if (items.length === 0) {
    yield [];
    return;
  }
  for (const [i, item] of items.entries()) {
    for (const rest of permutations(items.toSpliced(i, 1))) yield [item, ...rest];
  }
}

function countOrders(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const inner = (Object.values(value) as unknown[]).reduce<number>((count, each) => count * countOrders(each), 1);
  return Array.isArray(value) ? inner : Object.keys(value).reduce((count, _, i) => count * (i + 1), inner);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value as Record<string, unknown>).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, inner]) => [key, sortKeys(inner)]));
}

/** Serializes with a space after each comma and colon. */
function spaced(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  const entries = Object.entries(value as Record<string, unknown>).map(
    ([key, inner]) => `${JSON.stringify(key)}: ${spaced(inner)}`,
  );
  return `{${entries.join(', ')}}`;
}

function escapeNonAscii(json: string): string {
  return json.replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function distinct(forms: BodyForm[]): BodyForm[] {
  const texts = new Set<string>();
  return forms.filter(({ text }) => !texts.has(text) && texts.add(text));
}

function parse(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
