import { EXACT_NUMBERS, isExact } from './exact-json';

/** Maximum nesting of `data`; `data` itself is the first level. */
export const MAX_DEPTH = 64;

/** The JSON text of an event's `data` and the value that a receiver will parse from it; or the problem with it. */
export type DataVerdict = { ok: true; text: string; value: unknown } | { ok: false; problem: string };

/**
 * Serializes `data` once (RFC 8259). Rejects numbers that are not finite or beyond ±(2^53-1), nesting deeper than
 * 64 (and therefore cycles), and values that JSON cannot express. Values with a `toJSON`, such as dates, and `undefined` are converted as
 * `JSON.stringify` does, and the result is validated. Never throws.
 */
export function serialiseData(data: unknown): DataVerdict {
  try {
    const asGiven = inspect(data);
    if (asGiven.problem) return { ok: false, problem: asGiven.problem };
    const text = JSON.stringify(data);
    if (asGiven.plain) return { ok: true, text, value: data };
    const value: unknown = JSON.parse(text);
    const { problem } = inspect(value);
    return problem ? { ok: false, problem } : { ok: true, text, value };
  } catch {
    return { ok: false, problem: 'data must be what JSON can say' };
  }
}

interface Findings {
  problem?: string;
  /** True when serializing and parsing the data changes nothing. */
  plain: boolean;
}

/** More objects and arrays than the largest event can contain. Only data that repeats a value many times has more. */
const MAX_CONTAINERS = 600_000;

/** Traverses depth first, so that a cycle is rejected after 64 steps, and without recursion, because hostile input is deep. */
function inspect(data: unknown): Findings {
  if (!isContainer(data) || Array.isArray(data)) return { plain: true, problem: 'data must be a JSON object' };
  let plain = isPlain(data);
  const stack: [container: object, depth: number][] = [[data, 1]];
  for (let visited = 1; stack.length > 0; visited++) {
    const [container, depth] = stack.pop() as [object, number];
    if (depth > MAX_DEPTH) return { plain, problem: `data must not be nested deeper than ${MAX_DEPTH} levels` };
    if (visited > MAX_CONTAINERS) return { plain, problem: 'data must not hold so many values' };
    for (const value of Object.values(container) as unknown[]) {
      if (typeof value === 'number' ? !isExact(value) : typeof value === 'bigint' && !('toJSON' in BigInt.prototype)) {
        return { plain, problem: `data must hold only finite numbers, and none ${EXACT_NUMBERS}` };
      }
      if (isContainer(value)) stack.push([value, depth + 1]);
      plain &&= isPlain(value);
    }
  }
  return { plain };
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

function isPlain(value: unknown): boolean {
  if (!isContainer(value)) return value === null || ['string', 'number', 'boolean'].includes(typeof value);
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
}
