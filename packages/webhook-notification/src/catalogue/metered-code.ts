/** Maximum number of errors that a loop of a compiled schema reports. */
export const MAX_ERRORS = 10;

/** Cost of a check, in comparisons with one value of an `enum`. */
const CHECK = 32;
/** Additional cost of a format, a length and the keys of an object, in checks. */
const SLOW = 3;
/** Maximum cost of one validation, in the same unit: a million checks, about 0.1 s. */
const MAX_COST = 1_000_000 * CHECK;

const TEXT = /"(?:[^"\\]|\\.)*"/.source;
const VALUE = `data\\d*(?:\\.\\w+|\\[(?:\\w+|${TEXT})\\])*`;
const TOKENS = [
  `(?<loop>\\bfor\\((?:const|let) (?:[^{}"]|${TEXT})*\\)\\{)`,
  `(?<text>${TEXT})`,
  '(?<entry>\\blet errors = 0;)',
  '(?<check>\\berrors\\+\\+;)',
  '(?<slow>\\bformats\\d+\\b)',
  `\\b(?<size>Object\\.keys|func\\d+)\\((?<value>${VALUE})\\)`,
  `\\b(?<equal>func\\d+)\\((?=${VALUE}, )`,
  '(?<open>\\{)',
  '(?<close>\\})',
];
const TOKEN = new RegExp(TOKENS.join('|'), 'g');
type Name = 'loop' | 'text' | 'entry' | 'check' | 'slow' | 'size' | 'value' | 'equal' | 'open' | 'close';
type Token = Partial<Record<Name, string>>;

/** Thrown when a validation would exceed its maximum cost. */
export class TooCostly extends Error {}

/** Counts the cost of a validation. Compiled schemas access it as `self.meter`. */
export class Meter {
  private left = Infinity;

  /** @param isBounded limits the next validation to a million checks; otherwise it has no limit */
  begin(isBounded: boolean): void {
    this.left = isBounded ? MAX_COST : Infinity;
  }

  /** @throws TooCostly */
  charge(cost: number): void {
    if ((this.left -= cost) < 0) throw new TooCostly();
  }

  /** Charges for an operation that reads the whole value: the length of a text, the keys of an object. */
  sized<T>(value: T): T {
    if (typeof value === 'string') this.charge(value.length);
    else if (typeof value === 'object' && value !== null) this.charge((SLOW + Object.keys(value).length) * CHECK);
    return value;
  }

  /** Compares two values, at the cost of the members of both. */
  compare(equal: (a: unknown, b: unknown) => boolean, a: unknown, b: unknown): boolean {
    if (typeof a === 'object' && typeof b === 'object') {
      this.sized(a);
      this.sized(b);
    }
    return equal(a, b);
  }
}

/**
 * Changes the code that Ajv generated from a schema in two ways.
 *
 * Each loop ends after ten errors of its own: half a million invalid items would cause as many errors. The schema that
 * contains the loop has failed by then in any case, so the result stays the same.
 *
 * Each call and each iteration of a loop is charged for its checks before they run.
 */
export function metered(code: string): string {
  const checks = countChecks(code);
  let loops = 0;
  return code.replaceAll(TOKEN, (found, ...rest) => {
    const { loop, entry, size, value, equal } = rest.at(-1) as Token;
    if (entry) return `${entry}self.meter.charge(${CHECK * (checks[0] ?? 0)});`;
    if (size) return `${size}(self.meter.sized(${value}))`;
    if (equal) return `self.meter.compare(${equal},`;
    if (!loop) return found;
    const before = `before${(loops += 1)}`;
    const cost = 1 + CHECK * (checks[loops] ?? 0);
    return `var ${before}=errors;${loop}if(errors-${before}>=${MAX_ERRORS})break;self.meter.charge(${cost});`;
  });
}

/** Counts the checks in the function (the first number), and in each of its loops without nested loops. */
function countChecks(code: string): number[] {
  const counts = [0];
  const within = [0];
  const innermost = () => within.at(-1) ?? 0;
  for (const { groups } of code.matchAll(TOKEN)) {
    const { loop, open, close, check, slow, size } = groups as Token;
    if (loop) within.push(counts.push(0) - 1);
    else if (open) within.push(innermost());
    else if (close) within.pop();
    else if (check) counts[innermost()]! += 1;
    else if (slow || size) counts[innermost()]! += SLOW;
  }
  return counts;
}
