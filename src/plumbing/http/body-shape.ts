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

/** The most levels, and the most values, in a large body. */
const MAX_LARGE_DEPTH = 100;
const MAX_LARGE_VALUES = 500_000;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
/** The lower brackets of ASCII, with this bit set, are the upper ones: `[` becomes `{`, and `]` becomes `}`. */
const UPPER = 0x20;
const [OPEN, CLOSE] = [0x7b, 0x7d];

/**
 * What is wrong with the shape of a large body that is not parsed yet; null: nothing. Parsing it would take seconds in
 * which the process does nothing else. Reads each byte once; what is no JSON is left to the parser.
 */
export function largeShapeFaultOf(json: Buffer): ShapeFault | null {
  let [depth, values] = [0, 0];
  let isText = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i] as number;
    if (isText) {
      if (byte === BACKSLASH) i += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) isText = true;
    else if (byte === COMMA) values += 1;
    else if ((byte | UPPER) === CLOSE) depth -= 1;
    else if ((byte | UPPER) === OPEN) {
      depth += 1;
      values += 1;
    }
    if (depth > MAX_LARGE_DEPTH) return 'too deep';
    if (values > MAX_LARGE_VALUES) return 'too many values';
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
