/** Levels of nesting that `data` may have; `data` itself is the first. */
export const MAX_DEPTH = 64;

/** The JSON text of an event's `data`, with the value that a receiver will parse out of it; or what is wrong with it. */
export type DataVerdict = { ok: true; text: string; value: unknown } | { ok: false; problem: string };

/**
 * Serialises `data` once (RFC 8259). Refused are numbers that are not finite, nesting deeper than 64 (and so cycles),
 * and what JSON cannot say. Values with a `toJSON`, such as dates, and `undefined` become what `JSON.stringify` makes
 * of them. Never throws.
 */
export function serialiseData(data: unknown): DataVerdict {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    return { ok: false, problem: 'data must be a JSON object' };
  }
  const { problem, plain } = inspect(data);
  if (problem) return { ok: false, problem };
  try {
    const text = JSON.stringify(data);
    return { ok: true, text, value: plain ? data : JSON.parse(text) };
  } catch {
    return { ok: false, problem: 'data must be what JSON can say' };
  }
}

interface Findings {
  problem?: string;
  /** Nothing in it changes when it is serialised and parsed again. */
  plain: boolean;
}

/** Walks without recursion: hostile input is nested deeper than the stack. */
function inspect(data: object): Findings {
  let plain = true;
  let level: object[] = [data];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return { plain, problem: `data must not be nested deeper than ${MAX_DEPTH} levels` };
    const next: object[] = [];
    for (const value of level.flatMap((node): unknown[] => Object.values(node))) {
      if (typeof value === 'number' && !Number.isFinite(value)) {
        return { plain, problem: 'data must hold only finite numbers; send larger ones as strings' };
      }
      if (typeof value === 'object' && value !== null) next.push(value);
      plain &&= isPlain(value);
    }
    level = next;
  }
  return { plain };
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null)
    return ['string', 'number', 'boolean', 'object'].includes(typeof value);
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}
