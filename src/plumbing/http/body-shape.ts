/** The most levels of nesting in a request body. The body itself is the first. */
const MAX_DEPTH = 16;
/** The most fields and items in a request body, all levels together. */
const MAX_VALUES = 1000;

/** What is wrong with the shape of a parsed JSON body. */
export type ShapeFault = 'too deep' | 'too many values';

/**
 * What is wrong with the shape of a parsed body; null: nothing. Looks at no more than 1,000 values and 16 levels,
 * without recursion. So no later validator gets thousands of items, or runs out of stack.
 */
export function shapeFaultOf(body: unknown): ShapeFault | null {
  let level = [body];
  let values = 0;
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter((value) => typeof value === 'object' && value !== null) as object[];
    if (containers.length > 0 && depth === MAX_DEPTH) return 'too deep';
    level = [];
    for (const container of containers) {
      const inside = Object.values(container) as unknown[];
      values += inside.length;
      if (values > MAX_VALUES) return 'too many values';
      level.push(...inside);
    }
  }
  return null;
}

/** The first field whose value has such a fault by itself, cut to 64 characters; undefined: there is none. */
export function faultyField(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  return Object.entries(body)
    .find(([, value]) => shapeFaultOf(value) !== null)?.[0]
    .slice(0, 64);
}
