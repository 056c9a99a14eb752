export interface SavedRequest {
  /** By lowercase name. The values of a repeated header are joined by ", ". */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/**
 * Parses a raw HTTP request, as `nc` or a request bin shows it, or the JSON of a delivery: `{headers, body}`, alone or
 * as the `request` of `GET /api/webhooks/:id/deliveries/:deliveryId`.
 */
export function parseSavedRequest(saved: Buffer): SavedRequest {
  const json = requestInJson(saved.toString('utf8'));
  if (json) return { headers: headersOfObject(json.headers), body: Buffer.from(json.body) };
  const end = /\r?\n\r?\n/.exec(saved.toString('latin1'));
  if (!end) throw new Error('There is no empty line between headers and body. Pass them apart: --headers and --body.');
  return {
    headers: parseHeaders(saved.subarray(0, end.index).toString('utf8')),
    body: saved.subarray(end.index + end[0].length),
  };
}

/** Parses headers alone: lines of `name: value`, with or without a request line, or a JSON object. */
export function parseHeaders(text: string): SavedRequest['headers'] {
  const object = parseJson(text);
  if (isObject(object)) return headersOfObject(object);
  const lines = text.split(/\r?\n/).map((line) => /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line));
  return headersOfEntries(lines.flatMap((line) => (line ? [[line[1] ?? '', line[2] ?? ''] as const] : [])));
}

function headersOfObject(object: object): SavedRequest['headers'] {
  return headersOfEntries(Object.entries(object).map(([name, value]) => [name, [value].flat().join(', ')] as const));
}

function headersOfEntries(entries: (readonly [name: string, value: string])[]): SavedRequest['headers'] {
  const headers = new Map<string, string>();
  for (const [name, value] of entries) {
    const before = headers.get(name.toLowerCase());
    headers.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}

function requestInJson(text: string): { headers: object; body: string } | null {
  const json = parseJson(text) as { data?: { request?: unknown }; request?: unknown } | undefined;
  const places: unknown[] = [json, json?.request, json?.data?.request];
  const found = places.find((place) => isObject(place) && isObject(place.headers) && typeof place.body === 'string');
  return (found as { headers: object; body: string } | undefined) ?? null;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
