/** Levels of nesting that a request body may have; the body itself is the first. */
const MAX_DEPTH = 16;
/** Fields and items that it may have in all. */
const MAX_VALUES = 1000;

/** What is wrong with the shape of a parsed JSON body. */
export type ShapeFault = 'too deep' | 'too many values';

/**
 * Looks at no more than 1,000 values and 16 levels, without recursion, so that no validator behind it meets thousands of
 * items or runs out of stack. Null when the body may go on to them.
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

/** The first field of a body, cut to 64 characters, that has such a fault by itself. */
export function faultyField(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  return Object.entries(body)
    .find(([, value]) => shapeFaultOf(value) !== null)?.[0]
    .slice(0, 64);
}
