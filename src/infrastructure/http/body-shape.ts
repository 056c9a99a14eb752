/** Maximum levels of nesting in a request body, including the body itself. */
const MAX_DEPTH = 16;
/** Maximum number of fields and items in a request body, all levels together. */
const MAX_VALUES = 1000;

export type ShapeError = 'too deep' | 'too many values';

/**
 * Returns the problem with the shape of a parsed body, or null. Visits at most 1,000 values and 16 levels, without
 * recursion, so that no later validator gets thousands of items or runs out of stack.
 */
export function shapeErrorOf(body: unknown): ShapeError | null {
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

const MAX_LARGE_DEPTH = 100;
const MAX_LARGE_VALUES = 500_000;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
/** In ASCII, this bit turns square brackets into braces: `[` becomes `{`, and `]` becomes `}`. */
const UPPER = 0x20;
const [OPEN, CLOSE] = [0x7b, 0x7d];

/**
 * Returns the problem with the shape of a large body before it is parsed, or null. Parsing it would block the process
 * for seconds. Reads each byte once; invalid JSON is left to the parser.
 */
export function largeShapeErrorOf(json: Buffer): ShapeError | null {
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

/** Returns the first field whose value has such a problem by itself, cut to 64 characters, or undefined. */
export function invalidField(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  return Object.entries(body)
    .find(([, value]) => shapeErrorOf(value) !== null)?.[0]
    .slice(0, 64);
}
