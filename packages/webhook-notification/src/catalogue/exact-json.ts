import { type FieldError, invalidField } from './field-error';

/** The rule for numbers, as the end of a sentence. */
export const EXACT_NUMBERS = `beyond ±${Number.MAX_SAFE_INTEGER}; send larger ones as strings`;

/** False for a number that stands for several whole numbers of JSON, and for one that is not finite. */
export const isExact = (value: number): boolean => Math.abs(value) <= Number.MAX_SAFE_INTEGER;

const [QUOTE, BACKSLASH, COMMA, COLON, MINUS] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d];
const [ZERO, NINE] = [0x30, 0x39];
/** In ASCII, this bit turns square brackets into braces: `[` becomes `{`, and `]` becomes `}`. */
const UPPER = 0x20;
const [OPEN_LIST, OPEN, CLOSE] = [0x5b, 0x7b, 0x7d];
const NUMBER = /[-+.\deE]+/y;
/** A shorter number without an exponent is exact. */
const EXACT_LENGTH = 16;
const MAX_SHOWN = 64;

/** An object with the names of its members so far, or a list. */
interface Level {
  names: Set<string> | null;
  /** The member or the item that is being read. */
  at: string | number;
}

/**
 * Returns the first part of a JSON text (RFC 8259) that `JSON.parse` would change without an error: a whole number beyond ±(2^53-1),
 * or a name that an object has twice, of which only the last value would stay. Also returns a member `__proto__`, which programs
 * may take for a prototype. Null if there is none. Reads each character once.
 * @param json must be valid
 */
export function inexactPartOf(json: string): FieldError | null {
  const levels: Level[] = [];
  let level: Level | undefined;
  let isName = false;
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i);
    if (code === QUOTE) {
      const end = endOfText(json, i);
      if (isName && level?.names) {
        const name = nameIn(json, i, end);
        level.at = name;
        if (name === '__proto__') return invalidField(pathOf(levels), 'is a name that no object may have here');
        if (level.names.has(name)) return invalidField(pathOf(levels), 'must occur only once in its object');
        level.names.add(name);
      }
      i = end;
    } else if (code === COLON) isName = false;
    else if (code === COMMA) {
      if (typeof level?.at === 'number') level.at += 1;
      else isName = true;
    } else if ((code | UPPER) === OPEN) {
      isName = code !== OPEN_LIST;
      level = isName ? { names: new Set(), at: '' } : { names: null, at: 0 };
      levels.push(level);
    } else if ((code | UPPER) === CLOSE) {
      levels.pop();
      level = levels.at(-1);
      isName = false;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = i;
      const number = NUMBER.exec(json)?.[0] ?? '';
      if (!isExactText(number)) return invalidField(pathOf(levels), `must not be ${EXACT_NUMBERS}`);
      i += number.length - 1;
    }
  }
  return null;
}

const isExactText = (number: string): boolean =>
  (number.length < EXACT_LENGTH && !/e/i.test(number)) || isExact(Number(number));

/** Returns where the text that begins at `start` ends: the place of its second quotation mark. */
function endOfText(json: string, start: number): number {
  const end = json.indexOf('"', start + 1);
  if (json.charCodeAt(end - 1) !== BACKSLASH) return end;
  for (let i = start + 1; ; i++) {
    const code = json.charCodeAt(i);
    if (code === BACKSLASH) i += 1;
    else if (code === QUOTE) return i;
  }
}

function nameIn(json: string, start: number, end: number): string {
  const name = json.slice(start + 1, end);
  return name.includes('\\') ? (JSON.parse(json.slice(start, end + 1)) as string) : name;
}

/** Returns the path of a part, such as `events[2].data.id`, with names cut to 64 characters. */
function pathOf(levels: readonly Level[]): string {
  const path = levels.map(({ at }) => (typeof at === 'number' ? `[${at}]` : `.${at.slice(0, MAX_SHOWN)}`)).join('');
  return path.replace(/^\./, '') || 'body';
}
