import type { SvixEndpoint } from './svix-endpoint';

// The parts of Svix's answers that an import uses. Two fields have other names in its newer clients, and both count: filterTypes
// or eventTypes, rateLimit or throttleRate. Each function returns null for an answer of another shape.

type Fields = Readonly<Record<string, unknown>>;

/** A page of endpoints; `next` is the iterator of the next one. */
interface EndpointsPage {
  endpoints: SvixEndpoint[];
  next: string | null;
}

export function applicationIdOf(answer: unknown): string | null {
  return textOf(fieldsOf(answer)?.id);
}

export function endpointsPageOf(answer: unknown): EndpointsPage | null {
  const { data, iterator, done } = fieldsOf(answer) ?? {};
  if (!Array.isArray(data) || typeof done !== 'boolean') return null;
  const endpoints = data.map(endpointOf);
  const next = done ? null : textOf(iterator);
  if (endpoints.includes(null) || (!done && next === null)) return null;
  return { endpoints: endpoints as SvixEndpoint[], next };
}

export function keyOf(answer: unknown): string | null {
  return textOf(fieldsOf(answer)?.key);
}

export function headersOf(answer: unknown): { headers: Record<string, string>; sensitive: string[] } | null {
  const fields = fieldsOf(answer);
  const headers = textsByName(fields?.headers);
  const sensitive = textsOf(fields?.sensitive ?? []);
  return headers && sensitive && { headers, sensitive: [...sensitive].sort() };
}

/** Whether an endpoint has a transformation that is switched on. */
export function isTransformedBy(answer: unknown): boolean {
  const { enabled, code } = fieldsOf(answer) ?? {};
  return enabled === true && typeof code === 'string' && code !== '';
}

function endpointOf(value: unknown): SvixEndpoint | null {
  const fields = fieldsOf(value);
  const [id, url] = [textOf(fields?.id), textOf(fields?.url)];
  const filterTypes = listOrNull(fields?.filterTypes ?? fields?.eventTypes);
  const channels = listOrNull(fields?.channels);
  const metadata = textsByName(fields?.metadata ?? {});
  if (id === null || url === null || filterTypes === undefined || channels === undefined || !metadata) return null;
  const rate = fields?.rateLimit ?? fields?.throttleRate;
  return {
    ...{ id, url, filterTypes, channels, metadata },
    uid: textOf(fields?.uid),
    description: textOf(fields?.description) ?? '',
    disabled: fields?.disabled === true,
    rateLimit: typeof rate === 'number' && Number.isFinite(rate) ? rate : null,
  };
}

const fieldsOf = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const textsOf = (value: unknown): string[] | null =>
  Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : null;

/** Undefined: neither a list of texts nor nothing. An empty list counts as nothing: Svix has no such list. */
function listOrNull(value: unknown): string[] | null | undefined {
  if (value === undefined || value === null) return null;
  const texts = textsOf(value);
  if (texts === null) return undefined;
  return texts.length === 0 ? null : texts;
}

function textsByName(value: unknown): Record<string, string> | null {
  const fields = fieldsOf(value);
  if (!fields || Object.values(fields).some((each) => typeof each !== 'string')) return null;
  return fields as Record<string, string>;
}
