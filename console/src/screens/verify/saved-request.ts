/** A request as somebody saved it: its headers as lines of `name: value`, and its exact body. */
export interface SavedRequest {
  headers: string;
  body: Uint8Array;
}

const HEADER = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/;
const REQUEST_LINE = /^[A-Z]+ \S+( HTTP\/[\d.]+)?$/;

/**
 * Returns headers and body of a raw HTTP request or of the JSON of a delivery, which are the files that
 * `npx webhooks verify` takes; null when the bytes are neither.
 */
export const splitRequest = (saved: Uint8Array): SavedRequest | null => fromJson(saved) ?? fromRaw(saved);

/** Returns the headers by lower-case name, and the first line that is none; values of repeated ones are joined by ", ". */
export function parseHeaders(text: string): { headers: Record<string, string>; faulty: string | null } {
  const headers = new Map<string, string>();
  let faulty: string | null = null;
  for (const [i, line] of linesOf(text).entries()) {
    const [, name = '', value = ''] = HEADER.exec(line) ?? [];
    const before = headers.get(name.toLowerCase());
    if (name) headers.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
    else if (line.trim() !== '' && !(i === 0 && REQUEST_LINE.test(line))) faulty ??= line;
  }
  return { headers: Object.fromEntries(headers), faulty };
}

/** Returns headers as lines of `name: value`. */
export const headerLines = (headers: Readonly<Record<string, unknown>>): string =>
  Object.entries(headers)
    .flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${String(value)}`))
    .join('\n');

const linesOf = (text: string): string[] => text.split(/\r?\n/);

function fromRaw(saved: Uint8Array): SavedRequest | null {
  // One character for each byte, so that a position in the text is one in the bytes.
  const end = /\r?\n\r?\n/.exec(new TextDecoder('latin1').decode(saved));
  if (!end) return null;
  const lines = linesOf(new TextDecoder().decode(saved.subarray(0, end.index)));
  const headers = REQUEST_LINE.test(lines[0] ?? '') ? lines.slice(1) : lines;
  if (headers.length === 0 || !headers.every((line) => HEADER.test(line))) return null;
  return { headers: headers.join('\n'), body: saved.slice(end.index + end[0].length) };
}

function fromJson(saved: Uint8Array): SavedRequest | null {
  const json = parse(new TextDecoder().decode(saved)) as { data?: { request?: unknown }; request?: unknown } | null;
  for (const place of [json, json?.request, json?.data?.request]) {
    if (!isRecord(place) || !isRecord(place.headers) || typeof place.body !== 'string') continue;
    return { headers: headerLines(place.headers), body: new TextEncoder().encode(place.body) };
  }
  return null;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
