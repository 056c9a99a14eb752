/** Levels of nesting that `data` may have; `data` itself is the first. */
export const MAX_DEPTH = 64;

/** The JSON text of an event's `data` and the value that a receiver will parse out of it; or what is wrong with it. */
export type DataVerdict = { ok: true; text: string; value: unknown } | { ok: false; problem: string };

/**
 * Serialises `data` once (RFC 8259). It refuses numbers that are not finite, nesting deeper than 64 (and so cycles),
 * and what JSON cannot express. Values with a `toJSON`, such as dates, and `undefined` become what `JSON.stringify`
 * makes of them, and the result is judged. Never throws.
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
  /** True: nothing changes when the data is serialised and parsed again. */
  plain: boolean;
}

/** More objects and arrays than the largest event can hold. Only data that repeats a value many times has more. */
const MAX_CONTAINERS = 600_000;

/** Walks depth first, so a cycle is refused after 64 steps. Walks without recursion, because hostile input is deep. */
function inspect(data: unknown): Findings {
  if (!isContainer(data) || Array.isArray(data)) return { plain: true, problem: 'data must be a JSON object' };
  let plain = isPlain(data);
  const stack: [container: object, depth: number][] = [[data, 1]];
  for (let visited = 1; stack.length > 0; visited++) {
    const [container, depth] = stack.pop() as [object, number];
    if (depth > MAX_DEPTH) return { plain, problem: `data must not be nested deeper than ${MAX_DEPTH} levels` };
    if (visited > MAX_CONTAINERS) return { plain, problem: 'data must not hold so many values' };
    for (const value of Object.values(container) as unknown[]) {
      if (typeof value === 'number' && !Number.isFinite(value)) {
        return { plain, problem: 'data must hold only finite numbers; send larger ones as strings' };
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
